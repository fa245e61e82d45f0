export default function AgentPage(props: Record<string, unknown>) {
  return (
    <main className="main" id="content">
      {Object.keys(props).join()}
    </main>
  );
}
