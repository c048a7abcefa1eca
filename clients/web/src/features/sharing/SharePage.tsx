// A share: what happened in it, who is in, and what of it stays with the user.
import { useEffect, useState } from "preact/hooks";
import { href, place } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { ChoiceLine, Section, SwitchLine } from "../settings/rows.tsx";
import { LeaveDialog } from "./LeaveDialog.tsx";
import { Log } from "./Log.tsx";
import { Members } from "./Members.tsx";
import { namesOfOthers, PRIVATE_FIELDS, type PrivateField, reminderChoices, type Share } from "./shares.ts";
import "./sharing.css";

export default function SharePage({ params }: { params: Record<string, string> }) {
  const { shares, sync } = useAccount();
  const share = shares.byId.value.get(params["id"]!);
  if (share) return <OneShare share={share} />;
  return (
    <Page title={t("This is not shared with you")} back="/shares">
      <p>{sync.value.phase === "syncing" ? t("Your account is still being read.") : t("You have left it, or it has ended. The people are still with you.")}</p>
    </Page>
  );
}

function OneShare({ share }: { share: Share }) {
  const account = useAccount();
  const { id, name, groupId, peopleCount } = share;
  const [isLeaving, setLeaving] = useState(place.value.query.has("leave"));
  const others = namesOfOthers(share);
  useKeys([{ key: "Delete", label: t("Leave"), act: () => setLeaving(true) }], [id]);
  const group = account.groups.byId.value.get(groupId ?? "");
  return (
    <Page
      title={name}
      back={group ? `/groups/${group.id}` : "/shares"}
      width="wide"
      heading={<bdi>{name}</bdi>}
      actions={group && <a class="button" href={href(`/groups/${group.id}`)}><Icon name="group" size={18} />{t("The people")}</a>}
    >
      <p class="soft">
        {others ? t("You keep {people} together with {names}.", { people: tn("{count} person", "{count} people", peopleCount), names: others }) : t("Nobody else takes part yet. Whom you invite has these people, too, and you have theirs.")}
      </p>
      <States share={share} />
      <div class="two">
        <div class="stack">
          <ToDecide share={share} />
          <Log share={share} />
        </div>
        <div class="stack settings">
          <Members share={share} />
          <OwnSide share={share} />
          <p>
            <button class="danger" onClick={() => setLeaving(true)}>{t("Leave")} …</button>
          </p>
        </div>
      </div>
      {isLeaving && <LeaveDialog share={share} onClose={() => setLeaving(false)} />}
    </Page>
  );
}

// Why nothing goes out at the moment.
function States({ share }: { share: Share }) {
  const { groups } = useAccount();
  const isInTrash = share.groupId !== null && !groups.byId.value.has(share.groupId);
  if (share.state === "held") {
    return <p class="banner warning">{t("You changed or removed many at once. It has not reached the others: one of them looks at it first. With you all is as you made it.")}</p>;
  }
  if (share.state !== "paused") return null;
  return <p class="banner">{isInTrash ? t("Its group is in the trash, so nothing comes or goes. Bring the group back, then go on.") : t("It rests: nothing comes or goes until you go on.")}</p>;
}

export function ToDecide({ share: { id, waitingCount, conflictCount } }: { share: Share }) {
  if (waitingCount + conflictCount === 0) return null;
  const texts = [
    waitingCount > 0 && tn("{count} person waits for your answer", "{count} people wait for your answer", waitingCount),
    conflictCount > 0 && tn("{count} person was changed in two places", "{count} people were changed in two places", conflictCount),
  ];
  return (
    <a class="card share-decide" href={href(`/shares/${id}/review`)}>
      <span class="tile kind-accent"><Icon name="select" size={18} /></span>
      <span class="grow">{texts.filter(Boolean).join(" · ")}</span>
      <Icon name="next" size={18} />
    </a>
  );
}

// What the user has decided for the own side. Saved as it is changed.
function OwnSide({ share }: { share: Share }) {
  const { syncer } = useAccount();
  const [shown, setShown] = useState(share);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => setShown(share), [share]);
  const change = async (body: Partial<Pick<Share, "private" | "reminders" | "newcomers">> | { paused: boolean }, before: object) => {
    setProblem(null);
    const put = async (values: object) => {
      const { share: saved } = await connection.ask("PUT", `/api/shares/${share.id}`, values);
      setShown(saved as Share);
      syncer.syncNow();
    };
    try {
      setShown({ ...shown, ...body });
      await put(body);
      toast(t("Saved"), () => put(before).catch((error: unknown) => setProblem(problemOf(error))));
    } catch (error) {
      setShown(share);
      setProblem(problemOf(error));
    }
  };
  const lock = (field: PrivateField, isClosed: boolean) => {
    const before = shown.private;
    const closed = isClosed ? [...before, field] : before.filter((each) => each !== field);
    void change({ private: closed }, { private: before });
  };
  return (
    <>
      <ProblemNote problem={problem} />
      <Section title={t("What stays with you")}>
        <div class="card flush">
          {PRIVATE_FIELDS.map(({ field, label }) => (
            <SwitchLine key={field} label={t(label)} isOn={shown.private.includes(field)} onChange={(isClosed) => lock(field, isClosed)} />
          ))}
        </div>
        <p class="soft small">{t("Reminders, groups and what you log always stay with you.")} {t("What the others have already stays with them.")}</p>
      </Section>
      <Section title={t("What comes")}>
        <div class="card flush">
          <ChoiceLine label={t("Reminders of days that come")} value={shown.reminders} options={reminderChoices()} onValue={(reminders) => change({ reminders: reminders as Share["reminders"] }, { reminders: shown.reminders })} />
          <SwitchLine label={t("Whom others add comes by itself")} hint={t("Otherwise you are asked first.")} isOn={shown.newcomers === "auto"} onChange={(isAuto) => change({ newcomers: isAuto ? "auto" : "ask" }, { newcomers: shown.newcomers })} />
          <SwitchLine label={t("Let it rest for a while")} hint={t("Nothing comes or goes meanwhile.")} isOn={shown.state === "paused"} onChange={(paused) => change({ paused }, { paused: !paused })} />
        </div>
      </Section>
    </>
  );
}
