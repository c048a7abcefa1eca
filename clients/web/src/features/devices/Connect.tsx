// The quickest way to connect a phone or computer: a code that the phone reads, or on the phone itself one button.
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useInstance } from "../../store/instance.ts";
import { Icon } from "../../ui/Icon.tsx";
import { lazy } from "../../ui/lazy.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import type { MadeDevice } from "./NewDevice.tsx";
import { bodyOf, NEW_DEVICE } from "./settings.ts";
import type { Program } from "./words.ts";

const QrCode = lazy(() => import("../../ui/QrCode.tsx"));

type Kind = "apple" | "android" | "computer";

const KINDS: { kind: Kind; label: string }[] = [
  { kind: "apple", label: "iPhone" },
  { kind: "android", label: "Android" },
  { kind: "computer", label: "Computer" },
];

// What this page is opened on, by what the browser says of itself; undefined on a computer.
export function ownPhone(): { name: string; program: Program } | undefined {
  const agent = navigator.userAgent;
  // An iPad calls itself a Mac, and is told by its touch screen.
  if (/iPad/.test(agent) || (/Macintosh/.test(agent) && navigator.maxTouchPoints > 1)) return { name: "iPad", program: "apple" };
  if (/iPhone|iPod/.test(agent)) return { name: "iPhone", program: "apple" };
  if (/Android/.test(agent)) return { name: t("Android phone"), program: "android" };
  return undefined;
}

interface Props {
  onMade: (made: MadeDevice) => void;
  onByHand: () => void;
}

export function Connect({ onMade, onByHand }: Props) {
  const phone = ownPhone();
  const [kind, setKind] = useState<Kind>("apple");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  // Everybody, to read and to write: what most want. By hand one chooses.
  const make = async (name: string, program: Program) => {
    setBusy(true);
    setProblem(null);
    try {
      const body = { ...bodyOf({ ...NEW_DEVICE, name, groupCards: program === "apple" }), scope: "READ_WRITE" };
      const { apiToken } = await connection.ask("POST", "/api/user/api-tokens", body);
      onMade({ id: apiToken.id, password: apiToken.token, program });
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="card stack" aria-labelledby="connect">
      <div class="row apart">
        <h2 id="connect">{phone ? t("Connect this phone") : t("Connect a phone")}</h2>
        {!phone && (
          <div class="segments" role="group" aria-label={t("What it is")}>
            {KINDS.map(({ kind: each, label }) => (
              <button key={each} aria-pressed={kind === each} onClick={() => setKind(each)}>{t(label)}</button>
            ))}
          </div>
        )}
      </div>
      <ProblemNote problem={problem} />
      {phone ? (
        <button class="main big" disabled={isBusy} onClick={() => void make(phone.name, phone.program)}>{t("Set up this phone")}</button>
      ) : kind === "computer" ? (
        <>
          <p>{t("Thunderbird, GNOME, Outlook and others ask for an address, a user name and a password. The password is made for it alone.")}</p>
          <div><button class="main" disabled={isBusy} onClick={() => void make(t("Computer"), "other")}>{t("Set up a computer")}</button></div>
        </>
      ) : (
        <Code kind={kind} />
      )}
      <button class="plain by-hand" onClick={onByHand}>{t("By hand: choose who goes on it, and how")}<Icon name="next" size={16} /></button>
    </section>
  );
}

// The code opens this page on the phone, where the button is. Nothing is made before it is pressed.
function Code({ kind }: { kind: "apple" | "android" }) {
  const server = useInstance()?.baseUrl ?? location.origin; // the operator's address, which need not be the one of this page
  return (
    <div class="connect-code">
      <QrCode text={`${server}${href("/devices")}`} label={t("QR code that opens this page")} />
      <ol class="setting-steps">
        <li><span>{t("Point the phone’s camera at the code, and sign in there.")}</span></li>
        <li><span>{t("Press “Set up this phone”.")}</span></li>
        <li><span>{kind === "apple" ? t("Allow the profile, then install it in the phone’s settings. It asks for the password that stands there.") : t("The app DAVx⁵ takes address, name and password from there.")}</span></li>
      </ol>
    </div>
  );
}
