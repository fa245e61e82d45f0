/** The house's mark: a covered tea bowl. */
export function Logo({ large }: { large?: boolean }) {
  const size = large ? 28 : 20;
  return (
    <span className={large ? "logo lg" : "logo"}>
      <svg className="i" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
        <path d="M10.7 4.6a1.3 1.3 0 0 1 2.6 0M5.2 8.6C6 6.4 8.7 5.3 12 5.3s6 1.1 6.8 3.3M3.5 8.8h17M4.8 12h14.4c-.3 4.2-2.6 6.6-4.7 7h-5c-2.1-.4-4.4-2.8-4.7-7ZM6.5 21.2h11" />
      </svg>
    </span>
  );
}
