/** Files on their way into a message: each with how far it is, and why it was refused. */
import { useCallback, useRef, useState } from "react";
import type { Problem, StoredFile } from "@/api/types";
import { text } from "@/i18n";
import { wordsOf } from "@/i18n/problem";
import { fileSize } from "./size";

export const MAX_FILES = 20;
export const MAX_BYTES = 50_000_000;

export interface Upload {
  key: number;
  name: string;
  size: number;
  /** From 0 to 1. */
  progress: number;
  stored: StoredFile | null;
  refused: string | null;
  cancel: () => void;
}

export function useUploads() {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const counter = useRef(0);

  const change = useCallback((key: number, changes: Partial<Upload>) => {
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...changes } : one)));
  }, []);

  const add = useCallback(
    (files: Iterable<File>) => {
      for (const file of files) {
        counter.current += 1;
        const key = counter.current;
        const tooLarge = file.size > MAX_BYTES;
        const sending = tooLarge
          ? null
          : put(file, {
              progress: (progress) => change(key, { progress }),
              stored: (stored) => change(key, { stored, progress: 1 }),
              refused: (refused) => change(key, { refused }),
            });
        const upload: Upload = {
          key,
          name: file.name,
          size: file.size,
          progress: 0,
          stored: null,
          refused: tooLarge ? text("chat.file.too_large", { limit: fileSize(MAX_BYTES) }) : null,
          cancel: () => sending?.abort(),
        };
        setUploads((all) => [...all, upload]);
      }
    },
    [change],
  );

  const remove = useCallback((key: number) => {
    setUploads((all) => {
      all.find((one) => one.key === key)?.cancel();
      return all.filter((one) => one.key !== key);
    });
  }, []);

  const clear = useCallback(() => setUploads([]), []);
  return { uploads, add, remove, clear };
}

interface Reports {
  progress: (share: number) => void;
  stored: (file: StoredFile) => void;
  refused: (why: string) => void;
}

/** `fetch` does not tell how far an upload is. */
function put(file: File, report: Reports): XMLHttpRequest {
  const request = new XMLHttpRequest();
  request.open("POST", `/api/files?name=${encodeURIComponent(file.name)}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.responseType = "json";
  request.upload.onprogress = ({ loaded, total }) => report.progress(total ? loaded / total : 0);
  request.onload = () => {
    if (request.status < 300) report.stored(request.response as StoredFile);
    else report.refused(reason(request.response as { error?: Problem } | null, request.status));
  };
  request.onerror = () => report.refused(text("ui.offline"));
  request.send(file);
  return request;
}

const reason = (answer: { error?: Problem } | null, status: number) =>
  answer?.error ? wordsOf(answer.error).message : text("ui.odd_answer", { status });
