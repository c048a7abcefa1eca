// What was changed here and by another: both values side by side. Where it is a list, both can stay.
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { giveWithUndo } from "./answers.ts";
import type { ShareConflict } from "./shares.ts";
import { fieldInWords, valueInWords } from "./words.ts";

type Side = "local" | "remote" | "both";
type Difference = ShareConflict["fields"][number];

export function Differences({ conflicts }: { conflicts: ShareConflict[] }) {
  if (conflicts.length === 0) return null;
  return (
    <section class="section" aria-label={t("Changed in two places")}>
      <header><h2>{t("Changed in two places")}</h2></header>
      <ul class="stack tight">{conflicts.map((conflict) => <OneDifference key={conflict.id} conflict={conflict} />)}</ul>
    </section>
  );
}

const canBeBoth = ({ field, local, remote }: Difference) => field !== "photo" && Array.isArray(local) && Array.isArray(remote);

// Each entry once, as the service compares them: the ids are of one side.
function both(local: object[], remote: object[]): object[] {
  const keyOf = (entry: object) => JSON.stringify(Object.entries(entry).filter(([name]) => name !== "id"));
  const known = new Set(local.map(keyOf));
  return [...local, ...remote.filter((entry) => !known.has(keyOf(entry)))];
}

function valueOf({ local, remote }: Difference, side: Side): unknown {
  return side === "local" ? local : side === "remote" ? remote : both(local as object[], remote as object[]);
}

function OneDifference({ conflict }: { conflict: ShareConflict }) {
  const account = useAccount();
  const { id, personId, fields, by, createdAt } = conflict;
  const [sides, setSides] = useState<Record<string, Side>>({});
  const person = account.person(personId ?? "");
  const name = person?.name ?? conflict.personName;
  const sideOf = (each: Difference): Side => sides[each.field] ?? (canBeBoth(each) ? "both" : "local");
  // A list that is not named becomes that of both sides.
  const save = () => {
    const chosen = fields.map(sideOf);
    const body = chosen.every((side) => side === "local")
      ? { resolution: "keep_local" }
      : chosen.every((side) => side === "remote")
        ? { resolution: "keep_remote" }
        : { resolution: "merged", values: Object.fromEntries(fields.filter((each) => sideOf(each) !== "both").map((each) => [each.field, valueOf(each, sideOf(each))])) };
    void giveWithUndo(account, { path: `/api/share-conflicts/${id}/resolve`, body, about: [id], text: t("{name} is decided.", { name }) });
  };
  const option = (each: Difference, side: Side, whose: string, key: string) => (
    <button type="button" class="choice-tile" data-key={key} aria-pressed={sideOf(each) === side} onClick={() => setSides((before) => ({ ...before, [each.field]: side }))}>
      <span class="choice-mark" />
      <span class="share-name">
        <bdi class="share-value">{valueInWords(each.field, valueOf(each, side))}</bdi>
        <span class="soft small block">{whose}</span>
      </span>
    </button>
  );
  return (
    <li class="card stack tight share-difference" data-row tabIndex={-1}>
      <div class="row nowrap">
        <Avatar person={person ?? { id, name, photo: null }} />
        <span class="share-name">
          <a href={href(`/people/${personId}`)}>
            <strong>
              <bdi>{name}</bdi>
            </strong>
          </a>
          <span class="soft small block">{[by, timeInWords(createdAt, account.settings.value.timezone)].filter(Boolean).join(" · ")}</span>
        </span>
      </div>
      {fields.map((each) => (
        <div key={each.field} class="choice-field" role="group" aria-label={fieldInWords(each.field)}>
          <span class="label soft">{fieldInWords(each.field)}</span>
          <div class="choice-tiles">
            {option(each, "local", t("yours"), "1")}
            {option(each, "remote", by ? t("of {by}", { by }) : t("of the others"), "2")}
            {canBeBoth(each) && option(each, "both", t("both"), "3")}
          </div>
          {each.base !== null && each.base !== undefined && each.base !== "" && !Array.isArray(each.base) && <span class="soft small">{t("Before: {value}", { value: valueInWords(each.field, each.base) })}</span>}
        </div>
      ))}
      <div class="row">
        <button class="tint" data-key="4" onClick={save} aria-label={t("Keep what is chosen of {name}", { name })}>{t("Keep what is chosen")}</button>
        <span class="soft small">{t("What you choose goes to the others, too.")}</span>
      </div>
    </li>
  );
}
