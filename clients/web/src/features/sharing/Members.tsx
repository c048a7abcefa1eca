// Who is in. The host invites by mail, calls an invitation back, and takes members out.
import { useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { dayInWords, dayOf } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { href } from "../../app/router.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { TextField } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";
import { Section } from "../settings/rows.tsx";
import { isHost, type Member, type Share } from "./shares.ts";
import { useKept } from "./useKept.ts";

interface Invitation {
  id: string;
  email: string;
  state: "sent" | "accepted" | "declined" | "expired" | "revoked";
  expiresAt: string;
}

const MAX_MEMBERS = 8;

export function Members({ share }: { share: Share }) {
  const { settings, syncer } = useAccount();
  const { timezone } = settings.value;
  const isMine = isHost(share);
  const remove = async ({ id, name }: Member) => {
    if (!(await confirm(t("Take {name} out?", { name }), t("{name} keeps all people, and gets nothing new of you. You can invite {name} again.", { name }), t("Take {name} out", { name }), true))) return;
    try {
      await connection.ask("DELETE", `/api/shares/${share.id}/members/${id}`);
      syncer.syncNow();
      toast(t("{name} takes part no more.", { name }));
    } catch (error) {
      toast(problemOf(error).text);
    }
  };
  return (
    <Section title={t("Who takes part")}>
      <ul class="card flush lines share-members">
        {share.members.map((member) => (
          <li key={member.id} class="row">
            <Avatar person={{ id: member.id, name: member.name, photo: null }} size="small" />
            <span class="grow">
              <bdi>{member.name}</bdi> {member.you && <span class="soft">{t("(you)")}</span>}
              <span class="soft small block">
                {[member.host && t("invites the others"), t("takes part since {day}", { day: dayInWords(dayOf(member.joinedAt, timezone), { day: "numeric", month: "long", year: "numeric" }) })].filter(Boolean).join(" · ")}
              </span>
            </span>
            {isMine && !member.you && (
              <button class="plain icon" onClick={() => void remove(member)} aria-label={t("Take {name} out", { name: member.name })}>
                <Icon name="close" size={18} />
              </button>
            )}
          </li>
        ))}
      </ul>
      {isMine && share.members.length < MAX_MEMBERS && <Invitations share={share} />}
    </Section>
  );
}

function Invitations({ share }: { share: Share }) {
  const { settings } = useAccount();
  const path = `/api/shares/${share.id}/invitations`;
  const [{ data }, reload] = useKept(`invitations ${share.id}`, async (signal) => (await connection.ask("GET", path, undefined, { signal }))["invitations"] as Invitation[]);
  const open = data?.filter(({ state }) => state === "sent") ?? [];
  const withdraw = async ({ id, email }: Invitation) => {
    try {
      await connection.ask("DELETE", `${path}/${id}`);
      toast(t("The link that {email} got is good for nothing now.", { email }));
    } catch (error) {
      toast(problemOf(error).text);
    }
    await reload();
  };
  return (
    <>
      {open.length > 0 && (
        <ul class="card flush lines share-members">
          {open.map((invitation) => (
            <li key={invitation.id} class="row">
              <Icon name="mail" size={18} />
              <span class="grow">
                <bdi>{invitation.email}</bdi>
                <span class="soft small block">{t("invited, until {day}", { day: dayInWords(dayOf(invitation.expiresAt, settings.value.timezone)) })}</span>
              </span>
              <button class="plain icon" onClick={() => void withdraw(invitation)} aria-label={t("Call the invitation of {email} back", { email: invitation.email })}>
                <Icon name="close" size={18} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <InviteForm shareId={share.id} onDone={reload} />
    </>
  );
}

function InviteForm({ shareId, onDone }: { shareId: string; onDone: () => Promise<void> }) {
  const [email, setEmail] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async (event: Event) => {
    event.preventDefault();
    if (!email.trim() || isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      await invite(shareId, email);
      setEmail("");
      await onDone();
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  return (
    <form class="row end share-invite" onSubmit={send}>
      <TextField label={t("Invite by mail")} type="email" inputMode="email" autocomplete="off" placeholder="name@example.org" value={email} onValue={setEmail} error={problem?.fields["email"]} />
      <button class="main" disabled={!email.trim() || isBusy}>{t("Invite")}</button>
      <InviteProblem problem={problem} />
    </form>
  );
}

// Throws RefusedError.
export async function invite(shareId: string, email: string): Promise<void> {
  await connection.ask("POST", `/api/shares/${shareId}/invitations`, { email: email.trim() });
  toast(t("An invitation goes to {email}. It is good for seven days.", { email: email.trim() }));
}

export function InviteProblem({ problem }: { problem: Problem | null }) {
  if (!problem || problem.fields["email"]) return null;
  return (
    <p class="banner danger share-problem" role="alert">
      <span>{problem.text}</span>
      {problem.code === "email_unverified" && <a href={href("/account")}>{t("Confirm your own address")}</a>}
    </p>
  );
}
