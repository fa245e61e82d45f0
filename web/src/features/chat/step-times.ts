/** How long the steps of an ended run took, from its journal; asked for when one looks. */
import { useQuery } from "@tanstack/react-query";
import { get } from "@/api/client";
import type { ToolResultPart } from "@/api/types";

interface StepRecord {
  type: string;
  result?: ToolResultPart;
  elapsed_ms?: number;
}

const NONE: ReadonlyMap<string, number> = new Map();

export function useStepTimes(run: string | null, wanted: boolean): ReadonlyMap<string, number> {
  const steps = useQuery({
    queryKey: ["steps", run],
    queryFn: ({ signal }) => get<{ items: StepRecord[] }>(`/api/runs/${run}/steps`, { signal }),
    enabled: wanted && run !== null,
    staleTime: Number.POSITIVE_INFINITY,
    select: (page) =>
      new Map(
        page.items.flatMap(({ result, elapsed_ms: ms }) =>
          result && ms !== undefined ? [[result.call, ms] as const] : [],
        ),
      ),
  });
  return steps.data ?? NONE;
}
