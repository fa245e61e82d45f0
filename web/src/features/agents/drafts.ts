/** What has been typed about agents and not saved yet. It survives leaving the page, not a reload. */
import { create } from "zustand";
import type { Agent, AgentChanges } from "@/api/types";

export type Editable = Pick<Agent, "name" | "description" | "model" | "temperature" | "shared"> & {
  soul: string;
};

interface Drafts {
  of: Record<string, Partial<Editable>>;
  set: (id: string, agent: Agent, changes: Partial<Editable>) => void;
  drop: (id: string, names?: (keyof Editable)[]) => void;
}

const editable = (agent: Agent): Editable => ({ ...agent, soul: agent.soul ?? "" });

export const useDrafts = create<Drafts>((put) => ({
  of: {},
  set: (id, agent, changes) =>
    put((state) => {
      const kept = editable(agent);
      const draft = { ...state.of[id], ...changes };
      // What is as it was is no change.
      const left = Object.fromEntries(
        Object.entries(draft).filter(([name, value]) => value !== kept[name as keyof Editable]),
      );
      return { of: { ...state.of, [id]: left } };
    }),
  drop: (id, names) =>
    put((state) => {
      const { [id]: draft, ...others } = state.of;
      if (!names || !draft) return { of: others };
      const left = Object.entries(draft).filter(
        ([name]) => !names.includes(name as keyof Editable),
      );
      return { of: { ...others, [id]: Object.fromEntries(left) } };
    }),
}));

const NONE: Partial<Editable> = {};

export function useDraft(agent: Agent) {
  const changes = useDrafts((state) => state.of[agent.id] ?? NONE);
  const { set, drop } = useDrafts.getState();
  return {
    value: { ...editable(agent), ...changes },
    changes: changes as AgentChanges,
    count: Object.keys(changes).length,
    set: (more: Partial<Editable>) => set(agent.id, agent, more),
    drop: (names?: (keyof Editable)[]) => drop(agent.id, names),
  };
}

export type AgentDraftState = ReturnType<typeof useDraft>;

export const isDirty = (state: Drafts, id: string) => Object.keys(state.of[id] ?? NONE).length > 0;

// A reload or a closed tab would lose it, so the browser asks.
window.addEventListener("beforeunload", (event) => {
  const { of } = useDrafts.getState();
  if (Object.values(of).some((draft) => Object.keys(draft).length > 0)) event.preventDefault();
});
