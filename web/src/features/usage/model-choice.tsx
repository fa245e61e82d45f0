/** A list of models to take one from, besides those that are chosen already. */
import { useModels } from "@/api/queries";
import type { Model } from "@/api/types";
import { Select, type Wiring } from "@/ui";

const ALIASES = "aliases"; // what the server writes for a provider where there are several

export const isAlias = (model: Model) => model.provider === ALIASES;

interface Props {
  wiring: Wiring;
  /** What stands there while nothing is chosen. */
  prompt: string;
  value?: string;
  without: readonly string[];
  aliases?: boolean;
  onChoose: (model: string) => void;
  children?: React.ReactNode;
}

export function ModelChoice({
  wiring,
  prompt,
  value = "",
  without,
  aliases,
  onChoose,
  children,
}: Props) {
  const models = (useModels().data ?? []).filter(
    (model) => !without.includes(model.id) && (aliases || !isAlias(model)),
  );
  return (
    <Select {...wiring} value={value} onChange={(event) => onChoose(event.target.value)}>
      <option value="" disabled>
        {prompt}
      </option>
      {models.map((model) => (
        <option key={model.id} value={model.id}>
          {model.id}
        </option>
      ))}
      {children}
    </Select>
  );
}
