/** What the agent may use: each tool allowed, asked about first, or kept from it. */
import { useToolsOf } from "@/api/approvals";
import { useChangeAgent } from "@/api/queries";
import type { Agent, Rule, ToolOfAgent } from "@/api/types";
import { toolName } from "@/features/chat/tool-name";
import { type PageKey, useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Banner, Failure, Select, Skeleton } from "@/ui";

const RULES: Record<Rule, PageKey> = {
  allow: "agents.tools.allow",
  ask: "agents.tools.ask",
  deny: "agents.tools.deny",
};
const EFFECTS: Record<ToolOfAgent["effect"], PageKey> = {
  read: "approval.effect.read",
  write: "approval.effect.write",
  external: "approval.effect.external",
};

export function ToolsTab({ agent }: { agent: Agent }) {
  const t = useT();
  const tools = useToolsOf(agent.id);
  const change = useChangeAgent(agent.id);
  const rules = agent.permissions;

  function choose(name: string, rule: string) {
    const { [name]: _, ...others } = rules;
    change.mutate({ permissions: rule ? { ...others, [name]: rule as Rule } : others });
  }

  if (tools.isPending) return <Skeleton />;
  if (tools.isError) return <Failure error={tools.error} retry={() => void tools.refetch()} />;
  const names = new Set(tools.data.map((tool) => tool.name));
  const patterns = Object.keys(rules).filter((name) => !names.has(name));
  return (
    <div className="narrow-col col col-4">
      <p className="hint">{t("agents.tools.hint")}</p>
      {change.error && <Banner tone="error">{explain(change.error).message}</Banner>}
      <div className="card">
        {tools.data.map((tool) => (
          <div className="set" key={tool.name}>
            <div>
              <b>{toolName(t, tool.name)}</b>
              <small>
                {tool.description} {t(EFFECTS[tool.effect])}
              </small>
            </div>
            <Choice
              name={toolName(t, tool.name)}
              value={rules[tool.name] ?? ""}
              usual={t(RULES[rules[tool.name] ? tool.usual : tool.rule])}
              onChange={(rule) => choose(tool.name, rule)}
            />
          </div>
        ))}
        {patterns.map((pattern) => (
          <div className="set" key={pattern}>
            <div>
              <b>{pattern}</b>
              <small>{t("agents.tools.pattern")}</small>
            </div>
            <Choice
              name={pattern}
              value={rules[pattern] ?? ""}
              usual={null}
              onChange={(rule) => choose(pattern, rule)}
            />
          </div>
        ))}
      </div>
    </div>
  );
}

interface ChoiceProps {
  name: string;
  value: Rule | "";
  /** What counts without a rule of its own; null where taking the rule away is all there is. */
  usual: string | null;
  onChange: (rule: string) => void;
}

function Choice({ name, value, usual, onChange }: ChoiceProps) {
  const t = useT();
  return (
    <Select
      aria-label={t("agents.tools.rule", { tool: name })}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">
        {usual === null ? t("agents.tools.drop") : t("agents.tools.usual", { rule: usual })}
      </option>
      {(["allow", "ask", "deny"] as const).map((rule) => (
        <option key={rule} value={rule}>
          {t(RULES[rule])}
        </option>
      ))}
    </Select>
  );
}
