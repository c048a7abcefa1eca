// Likely relationships, to be accepted or dismissed many at once.
import type { components } from "contacts-client";
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { Empty } from "../../ui/Empty.tsx";
import { Avatar } from "../../ui/Avatar.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { Check } from "../../ui/Field.tsx";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";

type Suggestion = components["schemas"]["RelationshipSuggestion"];

const MAX_IDS = 500; // of one request

const REASONS: Record<Suggestion["reason"], { label: string }> = {
  card: { label: "It stands in a card" },
  siblings: { label: "They have a parent in common" },
  parent_of_spouses_child: { label: "A parent's spouse" },
  household: { label: "They have one address" },
};

export default function SuggestionsPage() {
  const account = useAccount();
  const [found, reload] = useRemote("suggestions", async (signal) => (await connection.ask("GET", "/api/relationship-suggestions", undefined, { signal }))["suggestions"] as Suggestion[]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [problem, setProblem] = useState<Problem | null>(null);
  const [refused, setRefused] = useState<string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const suggestions = found.value.data ?? [];
  const ids = suggestions.map(({ id }) => id).filter((id) => chosen.has(id));
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const sentence = ({ personId, personName, relatedPersonId, relatedName, relationshipTypeId, typeName }: Suggestion) =>
    t("{name} is {type} of {other}.", {
      name: account.person(personId)?.name ?? personName,
      type: account.relationshipTypes.byId.value.get(relationshipTypeId ?? "")?.label ?? typeName,
      other: (relatedPersonId && account.person(relatedPersonId)?.name) || relatedName,
    });
  const faceOf = (id: string | null, name: string) => (id && account.person(id)) || { id: id ?? name, name, photo: null };
  const decide = async (action: "accept" | "dismiss") => {
    setBusy(true);
    setProblem(null);
    setRefused([]);
    try {
      let count = 0;
      for (let at = 0; at < ids.length; at += MAX_IDS) {
        const answer = await connection.ask("POST", `/api/relationship-suggestions/${action}`, { ids: ids.slice(at, at + MAX_IDS) });
        count += answer[action === "accept" ? "accepted" : "dismissed"];
        for (const { id, error } of answer["errors"] as { id: string; error: string }[]) {
          const about = suggestions.find((each) => each.id === id);
          setRefused((before) => [...before, `${about ? sentence(about) : ""} ${error}`]);
        }
      }
      setChosen(new Set());
      account.syncer.syncNow();
      toast(action === "accept" ? tn("{count} relationship was added.", "{count} relationships were added.", count) : tn("{count} suggestion was dismissed.", "{count} suggestions were dismissed.", count));
    } catch (error) {
      setProblem(problemOf(error));
    }
    await reload();
    setBusy(false);
  };
  const dismiss = async () => {
    const isSure = await confirm(t("Dismiss?"), tn("{count} suggestion is never made again.", "{count} suggestions are never made again.", ids.length), t("Dismiss"));
    if (isSure) await decide("dismiss");
  };
  return (
    <Page title={t("Suggested ties")}>
      <ProblemNote problem={problem ?? found.value.problem} onRetry={() => void reload()} />
      {refused.length > 0 && (
        <div class="banner danger" role="alert">
          <ul>
            {refused.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
      {found.value.data?.length === 0 && (
        <Empty kind="tie" title={t("There is nothing to suggest.")}>
          <p>{t("Once some of your people are related, ties that follow from that are suggested here.")}</p>
        </Empty>
      )}
      {suggestions.length > 0 && (
        <>
          <div class="row">
            <button class="main" disabled={isBusy || ids.length === 0} onClick={() => void decide("accept")}>
              {t("Accept")}
            </button>
            <button disabled={isBusy || ids.length === 0} onClick={() => void dismiss()}>
              {t("Dismiss")}
            </button>
            <button class="plain" onClick={() => setChosen(ids.length === suggestions.length ? new Set() : new Set(suggestions.map(({ id }) => id)))}>
              {ids.length === suggestions.length ? t("Select none") : t("Select all")}
            </button>
            <span class="soft small" role="status">
              {tn("{count} selected", "{count} selected", ids.length)}
            </span>
          </div>
          <ul class="card plain-lines">
            {suggestions.map((suggestion) => (
              <li key={suggestion.id} class="row apart beside">
                <Check
                  isChecked={chosen.has(suggestion.id)}
                  onChange={() => toggle(suggestion.id)}
                  label={
                    <span class="row nowrap">
                      <span class="pile">
                        <Avatar person={faceOf(suggestion.personId, suggestion.personName)} />
                        <Avatar person={faceOf(suggestion.relatedPersonId, suggestion.relatedName)} />
                      </span>
                      <span>
                        <bdi>{sentence(suggestion)}</bdi>
                        <span class="soft small block">
                          {t(REASONS[suggestion.reason].label)}
                          {!suggestion.relatedPersonId && ` · ${t("{name} becomes a new person", { name: suggestion.relatedName })}`}
                        </span>
                      </span>
                    </span>
                  }
                />
                <a class="button plain" href={href(`/people/${suggestion.personId}`)} aria-label={`${t("Open")}: ${suggestion.personName}`}>
                  {t("Open")}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </Page>
  );
}
