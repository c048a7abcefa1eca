// An invitation: who asks, and what it means, also before a sign-in. Then which group it is here, what stays with the user, and
// what would happen, before it does.
import { useState } from "preact/hooks";
import { here, href, navigate, place } from "../../app/router.ts";
import { account as openAccount, connection, useAccount } from "../../app/session.ts";
import { dayInWords, dayOf } from "../../i18n/days.ts";
import { formatList, t, tn } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { SelectField } from "../../ui/Field.tsx";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { Gate } from "../account/Gate.tsx";
import { useProviders } from "../account/SignInForm.tsx";
import { type Invitation, readInvitations, type Rehearsal } from "./invitations.ts";
import { type OwnSide, OwnSideFields } from "./OwnSideFields.tsx";
import { DEFAULT_PRIVATE, shareOfGroup } from "./shares.ts";
import "../groups/groups.css";
import "../cleanup/cleanup.css";
import "./sharing.css";

export default function InvitationPage() {
  return openAccount.value ? <Member /> : <Visitor />;
}

const titleOf = (invitation: Invitation | undefined) => (invitation ? t("{from} wants to keep “{share}” together with you", { from: invitation.from, share: invitation.shareName }) : t("Somebody wants to keep people together with you"));

function Meaning({ invitation, zone }: { invitation: Invitation | undefined; zone: string | null }) {
  return (
    <>
      <ul class="share-points">
        <li>{t("Each of you has these people in your own account. A new number that one of you writes is with the others at once.")}</li>
        <li>{t("Your notes, reminders and what you log stay with you.")}</li>
        <li>{t("Whoever leaves keeps everyone.")}</li>
      </ul>
      {invitation && (
        <p class="soft small">
          {tn("{count} person is shared.", "{count} people are shared.", invitation.peopleCount)} {t("Good until {day}.", { day: dayInWords(dayOf(invitation.expiresAt, zone)) })}
        </p>
      )}
    </>
  );
}

function Visitor() {
  const token = place.value.query.get("token");
  const [found] = useRemote(`invitation ${token}`, (signal) => readInvitations(token, signal));
  const { data, problem } = found.value;
  const providers = useProviders();
  const next = `?next=${encodeURIComponent(here.value)}`;
  // Who has no account may not be told whether a link is good.
  if (data?.length === 0) {
    return (
      <Gate title={t("This invitation is over")}>
        <p>{t("It was answered, called back, or is older than seven days. Ask who sent it for another one.")}</p>
        <p><a class="button" href={href("/sign-in")}>{t("Sign in")}</a></p>
      </Gate>
    );
  }
  if (!data && !problem) return <Gate title="…"><p aria-busy="true" /></Gate>;
  return (
    <Gate key={data ? "known" : "unknown"} title={titleOf(data?.[0])}>
      <Meaning invitation={data?.[0]} zone={null} />
      <p>{t("You answer it in an account of your own.")}</p>
      <p class="row">
        <a class="button main" href={href(`/sign-in${next}`)}>{t("Sign in")}</a>
        {providers?.registration !== false && <a class="button" href={href(`/register${next}`)}>{t("Create an account")}</a>}
      </p>
    </Gate>
  );
}

function Member() {
  const token = place.value.query.get("token");
  const [found, reload] = useRemote(`invitation ${token}`, (signal) => readInvitations(token, signal));
  const { data, problem } = found.value;
  const invitation = data?.[0];
  return (
    <Page title={data?.length === 0 ? t("No invitation waits") : titleOf(invitation)} back="/shares" width="form">
      <ProblemNote problem={problem} onRetry={() => void reload()} />
      {!data && !problem && <p aria-busy="true" />}
      {data?.length === 0 && <p>{t("It was answered, called back, or is older than seven days. Ask who sent it for another one.")}</p>}
      {invitation && <Answer key={invitation.id} invitation={invitation} token={token} onDone={reload} />}
    </Page>
  );
}

const NEW_GROUP = "";

function Answer({ invitation, token, onDone }: { invitation: Invitation; token: string | null; onDone: () => Promise<void> }) {
  const account = useAccount();
  const { id, shareName, from } = invitation;
  const groups = account.groups.all.filter((group) => !shareOfGroup(account, group.id)).sort((one, other) => one.name.localeCompare(other.name));
  const [groupId, setGroupId] = useState(NEW_GROUP);
  const [own, setOwn] = useState<OwnSide>({ private: DEFAULT_PRIVATE, reminders: "none" });
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const withToken = token ? { token } : {};
  const path = `/api/share-invitations/${id}`;
  const [rehearsal] = useRemote(`rehearsal ${id}`, async (signal) => (await connection.ask("POST", `${path}/accept`, { ...withToken, dryRun: true }, { signal })) as unknown as Rehearsal);
  const attempt = async (work: () => Promise<void>) => {
    if (isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      await work();
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const accept = () =>
    attempt(async () => {
      const { share } = await connection.ask("POST", `${path}/accept`, { ...withToken, ...own, ...(groupId !== NEW_GROUP && { groupId }) });
      const seen = rehearsal.value.data;
      // Nobody to look at: the review is over before it begins.
      if (seen && seen.link.length + seen.unsure.length + seen.new.length === 0) await connection.ask("POST", `/api/shares/${share.id}/waiting`, { finish: true });
      account.syncer.syncNow();
      navigate(share.waitingCount > 0 ? `/shares/${share.id}/review` : `/shares/${share.id}`, { replace: true });
    });
  const decline = (block: boolean) =>
    attempt(async () => {
      await connection.ask("POST", `${path}/decline`, { ...withToken, ...(block && { block }) });
      toast(block ? t("{from} cannot invite you any more.", { from }) : t("You have said no. {from} is not told why.", { from }));
      await onDone();
    });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void accept();
      }}
    >
      <Meaning invitation={invitation} zone={account.settings.value.timezone} />
      <Preview found={rehearsal.value.data} problem={rehearsal.value.problem} />
      <section class="card stack">
        <SelectField label={t("Your group for it")} value={groupId} onValue={setGroupId} options={[[NEW_GROUP, t("A new group: {name}", { name: shareName })], ...groups.map((group) => [group.id, group.name] as [string, string])]} hint={groupId === NEW_GROUP ? t("Whoever you put into it later is shared, too.") : t("Who is in it goes to the others, once you have looked at who comes.")} />
        <OwnSideFields value={own} onValue={setOwn} />
      </section>
      <ProblemNote problem={problem} />
      <p>
        <button type="button" class="plain share-other" disabled={isBusy} onClick={() => void decline(true)}>{t("No more invitations from {from}", { from })}</button>
      </p>
      <div class="decision-bar">
        <button type="button" disabled={isBusy} onClick={() => void decline(false)}>{t("No, thanks")}</button>
        <button class="main" disabled={isBusy}>{t("Take part")}</button>
      </div>
    </form>
  );
}

const FACES = 8;

// The rehearsal: what the service would propose.
function Preview({ found, problem }: { found: Rehearsal | undefined; problem: Problem | null }) {
  if (problem) return <ProblemNote problem={problem} />;
  if (!found) return <p class="soft" aria-busy="true">{t("Looking whom you both have …")}</p>;
  const { link, unsure, new: newcomers } = found;
  const everybody = [...link, ...unsure, ...newcomers];
  if (everybody.length === 0) return <p class="soft">{t("Nobody is in it yet.")}</p>;
  const texts = [
    link.length > 0 && tn("{count} you have already", "{count} you have already", link.length),
    unsure.length > 0 && tn("{count} to look at", "{count} to look at", unsure.length),
    newcomers.length > 0 && tn("{count} new for you", "{count} new for you", newcomers.length),
  ].filter((text): text is string => Boolean(text));
  return (
    <section class="card stack tight" aria-label={t("Who would come")}>
      <span class="pile" aria-hidden="true">
        {everybody.slice(0, FACES).map(({ sharedId, name }) => <Avatar key={sharedId} person={{ id: sharedId, name, photo: null }} />)}
      </span>
      <p><strong>{formatList(texts)}</strong></p>
      <p class="soft small">{t("You look at each of them first. Nothing that you have is written over.")}</p>
    </section>
  );
}
