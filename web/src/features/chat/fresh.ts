/** Keeps the lists of conversations up to date with what happens in them. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { keys } from "@/api/queries";
import { whenEvents } from "@/live/live";
import { useOutbox } from "@/live/outbox";

const TOGETHER_MS = 200;
const TELLING = new Set(["post", "conversation", "stream_end"]);

export function useFreshLists(): void {
  const client = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void client.invalidateQueries({ queryKey: keys.conversations });
      }, TOGETHER_MS);
    };
    const stopEvents = whenEvents((batch) => {
      if (batch.some(({ event }) => TELLING.has(event.type))) soon();
    });
    const stopOutbox = useOutbox.subscribe((state, before) => {
      if (state.opened !== before.opened) soon();
    });
    return () => {
      clearTimeout(timer);
      stopEvents();
      stopOutbox();
    };
  }, [client]);
}
