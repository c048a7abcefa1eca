// One line for what happened: a tap on a kind logs it now, with what was typed.
import { useRef, useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useForm } from "../../ui/form.ts";
import { Icon } from "../../ui/Icon.tsx";
import { type Kind, kindOf, logNow } from "./interactions.ts";
import type { Person } from "./entries.ts";

// In the past, as what happened.
const CHIPS: { kind: Kind; text: () => string }[] = [
  { kind: "MEETING", text: () => t("Met|somebody") },
  { kind: "CALL", text: () => t("Called|somebody") },
  { kind: "MESSAGE", text: () => t("Wrote|to somebody") },
  { kind: "GIFT", text: () => t("Gift") },
  { kind: "NOTE", text: () => t("Note") },
];
const MAX_LINE = 10_000; // characters, of the notes of an entry

interface Props {
  person: Person;
  called: string; // what the user calls the person
  usualKind: Kind; // that Enter takes
}

export const COMPOSER_LINE = "person-line"; // the id of the input

export function Composer({ person, called, usualKind }: Props) {
  const account = useAccount();
  const input = useRef<HTMLInputElement>(null);
  const form = useForm<{ line: string }>(`${account.id} line ${person.id}`, () => ({ line: "" }));
  const [isActive, setActive] = useState(false);
  const [chosen, setChosen] = useState<Kind | null>(null);
  const { line } = form.values.value;
  const known = CHIPS.some(({ kind }) => kind === usualKind) ? usualKind : "CALL";
  const kind = chosen ?? known;
  const log = (which: Kind) => {
    void logNow(account, person, which, line);
    form.set("line", "");
    form.end();
    setChosen(null);
    input.current?.blur();
  };
  const move = (step: number) => setChosen(CHIPS.at((CHIPS.findIndex((each) => each.kind === kind) + step) % CHIPS.length)!.kind);
  return (
    <form
      class="composer no-print"
      onSubmit={(event) => {
        event.preventDefault();
        log(kind);
      }}
    >
      <input
        ref={input}
        id={COMPOSER_LINE}
        value={line}
        maxLength={MAX_LINE}
        autocomplete="off"
        enterkeyhint="done"
        aria-label={t("What happened with {name}?", { name: called })}
        placeholder={t("What happened with {name}?", { name: called })}
        onInput={({ currentTarget }) => form.set("line", currentTarget.value)}
        onFocus={() => setActive(true)}
        onBlur={() => setActive(false)}
        onKeyDown={(event) => {
          if (event.key === "Escape") input.current?.blur();
          else if (!line && event.key === "ArrowRight") move(1);
          else if (!line && event.key === "ArrowLeft") move(-1);
          else return;
          event.preventDefault();
        }}
      />
      <div class="composer-kinds" role="group" aria-label={t("Log now")}>
        {CHIPS.map((chip) => (
          <button key={chip.kind} type="button" class={`chip ${(isActive || line) && chip.kind === kind ? "chosen" : ""}`} onPointerDown={(event) => event.preventDefault()} onClick={() => log(chip.kind)}>
            <Icon name={kindOf(chip.kind).icon} size={16} />
            {chip.text()}
          </button>
        ))}
        <a class="chip" href={href(`/log?person=${person.id}`)} aria-label={t("With time, text, others …")}>
          <Icon name="more" size={16} />
        </a>
      </div>
      {(isActive || line) && <p class="soft small">{t("Enter logs: {kind}", { kind: CHIPS.find((each) => each.kind === kind)!.text() })}</p>}
    </form>
  );
}
