// What is to be looked at of an import, with a button each.
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import type { Result } from "./files.ts";
import type { Attention } from "./words.ts";

const STEP = 50;

interface Props {
  attention: Attention;
  namesakes: ReadonlyMap<Result, PersonRow>;
}

export function LookAt({ attention: { single, together }, namesakes }: Props) {
  const account = useAccount();
  const [count, setCount] = useState(STEP);
  const total = single.length + together.length + namesakes.size;
  if (total === 0) return null;
  return (
    <section class="section">
      <header><h2>{t("To look at")}</h2><span class="badge">{formatNumber(total)}</span></header>
      <ul class="card flush lines">
        {together.map(({ code, text, count }) => (
          <li key={code} class="result">
            <span class="tile kind-note"><Icon name="warning" size={18} /></span>
            <span class="grow"><strong>{tn("{count} person", "{count} people", count)}</strong><span class="soft small block">{text}</span></span>
            {code.startsWith("reminder_") && <a class="button" href={href("/notifications")}>{t("Reminders")}</a>}
          </li>
        ))}
        {[...namesakes].slice(0, count).map(([{ name, personId }, other], at) => (
          <li key={`same ${at}`} class="result">
            <Avatar person={other} />
            <span class="grow"><strong><bdi>{name}</bdi></strong><span class="soft small block">{t("Somebody of this name was here already.")}</span></span>
            {personId && <a class="button" href={href(`/duplicates/compare?one=${other.id}&other=${personId}`)} aria-label={t("Compare: {name}", { name })}>{t("Compare")}</a>}
          </li>
        ))}
        {single.slice(0, count).map(({ result: { index, name, personId }, texts }, at) => {
          const label = name || t("Entry {number} of the file", { number: index + 1 });
          return (
            <li key={at} class="result">
              <Avatar person={(personId && account.person(personId)) || { id: personId ?? label, name: name || "?", photo: null }} />
              <span class="grow"><strong><bdi>{label}</bdi></strong><span class="soft small block">{texts.join(". ")}</span></span>
              {personId ? <a class="button" href={href(`/people/${personId}`)} aria-label={t("Open {name}", { name: label })}>{t("Open|a page")}</a> : <a class="button" href={href(`/people/new${name ? `?name=${encodeURIComponent(name)}` : ""}`)} aria-label={t("Add by hand: {name}", { name: label })}>{t("Add by hand")}</a>}
            </li>
          );
        })}
      </ul>
      {single.length > count && <button class="plain" onClick={() => setCount(count + STEP * 2)}>{t("Show more ({count})", { count: formatNumber(single.length - count) })}</button>}
    </section>
  );
}
