/** A provider in full: where it is, what was wrong at last, and what its models cost. */
import type { Model, ProviderSettings } from "@/api/types";
import type { ProviderState, UsageRow } from "@/api/usage";
import { ProviderRow } from "@/features/models/provider-row";
import { useT } from "@/i18n";
import { money } from "@/i18n/format";
import { Status, type Tried } from "./provider-status";

export interface Line {
  name: string;
  title: string;
  settings: ProviderSettings | undefined;
  models: readonly Model[];
  /** One of its models, to be asked for a test. */
  model: string | null;
  state: ProviderState | undefined;
  sum: UsageRow | undefined;
}

interface DetailsProps {
  line: Line;
  tried: Tried | undefined;
  locked: boolean;
}

export function Details({ line, tried, locked }: DetailsProps) {
  const t = useT();
  const price = (value: number | null) => (value === null ? t("usage.unknown") : money(value));
  return (
    <div className="prov-d">
      {line.settings && (
        <div className="card">
          <ProviderRow
            name={line.name}
            provider={line.settings}
            model={line.model}
            locked={locked}
          />
        </div>
      )}
      <div className="col">
        <Status state={line.state} tried={tried} />
        {tried && tried !== "now" && !tried.ok && (
          <p className="hint wrap-any">{tried.problem ?? t("models.test.silent")}</p>
        )}
      </div>
      {line.models.length > 0 && (
        <table className="tbl">
          <caption className="hint">{t("usage.prices")}</caption>
          <thead>
            <tr>
              <th scope="col">{t("models.model")}</th>
              <th scope="col" className="r">
                {t("usage.price.in")}
              </th>
              <th scope="col" className="r">
                {t("usage.price.out")}
              </th>
            </tr>
          </thead>
          <tbody>
            {line.models.map((model) => (
              <tr key={model.id}>
                <th scope="row" className="mono t12 wrap-any">
                  {model.id.slice(line.name.length + 1)}
                </th>
                <td className="r">{price(model.input_price)}</td>
                <td className="r">{price(model.output_price)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
