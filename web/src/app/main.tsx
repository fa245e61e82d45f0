/** The page's entry: styles, language, then React. */
import "@/ui/styles/index.css";
import { createRoot } from "react-dom/client";
import { browserLanguage, start, storedLanguage } from "@/i18n";
import { App } from "./app";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
await start(storedLanguage() ?? browserLanguage() ?? "en-US");
createRoot(root).render(<App />);
