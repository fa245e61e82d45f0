/** Providers around the page, and the last net under it. */
import { QueryClientProvider } from "@tanstack/react-query";
import { Toaster, TooltipProvider } from "@/ui";
import { ErrorBoundary } from "./error-boundary";
import { Gate } from "./gate";
import { queryClient } from "./query-client";

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <TooltipProvider delayDuration={500} skipDelayDuration={200}>
        <ErrorBoundary>
          <Gate />
        </ErrorBoundary>
        <Toaster />
      </TooltipProvider>
    </QueryClientProvider>
  );
}
