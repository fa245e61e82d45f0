/** Catches a fault in the page's own code, and offers the one thing that helps. */
import { CircleAlert } from "lucide-react";
import { Component, type ReactNode } from "react";
import { text } from "@/i18n";
import { Button, Empty } from "@/ui";

export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <main className="center">
        <Empty
          tone="error"
          icon={<CircleAlert className="i" size={22} aria-hidden />}
          title={text("ui.page_fault")}
          actions={
            <Button kind="primary" onClick={() => location.reload()}>
              {text("ui.reload")}
            </Button>
          }
        >
          {text("ui.page_fault.hint")}
          <br />
          <span className="mono t12 k3">{error.message}</span>
        </Empty>
      </main>
    );
  }
}
