// The network as a picture, and the same as a list: of everybody, or of one person.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { href, navigate, place, setQuery } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { formatList, t, tn } from "../../i18n/index.ts";
import { useAll, useRecord } from "../../store/records.ts";
import { type PersonRow, search } from "../../store/people.ts";
import { announce } from "../../ui/announce.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Check, Field, SelectField } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { Page } from "../../ui/Page.tsx";
import { type ListControl, VirtualList } from "../../ui/VirtualList.tsx";
import { PersonGone } from "../person/PersonGone.tsx";
import { buildGraph, type Graph, type Node, surroundingsOf, tieInWords, typePairs, USER } from "./graph.ts";
import { arrange, knownPositions, shapeOf } from "./layout.ts";
import { NetworkPicture } from "./picture.ts";
import "./network.css";

const ROW_HEIGHT = 60;
const TIES_IN_ROW = 3;
const TIES_SHOWN = 60;
const PAN_PIXELS = 60;

export default function NetworkPage({ params }: { params: Record<string, string> }) {
  const id = params["id"];
  return id ? <NetworkOf id={id} /> : <Network centre={null} />;
}

function NetworkOf({ id }: { id: string }) {
  const record = useRecord("person", id).value;
  if (record === undefined) return <div class="page" aria-busy="true" />;
  return record ? <Network centre={id} /> : <PersonGone />;
}

function Network({ centre }: { centre: string | null }) {
  const account = useAccount();
  const name = centre ? (account.person(centre)?.name ?? "") : "";
  const graph = useGraph(centre);
  const [selectedId, setSelectedId] = useState<string | null>(centre ?? place.value.query.get("at"));
  const [words, setWords] = useState("");
  const picture = useRef<NetworkPicture | null>(null);
  const list = useRef<ListControl | null>(null);
  const box = useRef<HTMLInputElement>(null);
  const nodes = useMemo(() => new Map(graph?.nodes.map((node) => [node.id, node])), [graph]);
  const found = useFound(graph, words);
  const selected = nodes.get(selectedId ?? "") ?? null;
  const types = account.relationshipTypes.byId.value;
  useEffect(() => picture.current?.select(selected), [selected]);
  const choose = (node: Node | null, moves = true) => {
    setSelectedId(node?.id ?? null);
    if (!node) return;
    if (moves) picture.current?.centreOn(node);
    announce(`${node.name}: ${tn("{count} relationship", "{count} relationships", node.ties.length)}`);
  };
  useKeys(
    [
      { key: "/", label: t("Find in the network"), act: () => box.current?.focus() },
      { key: "+", label: t("Nearer"), act: () => picture.current?.zoom(1.5) },
      { key: "-", label: t("Farther"), act: () => picture.current?.zoom(1 / 1.5) },
      { key: "0", label: t("Show all of it"), act: () => picture.current?.showAll() },
      { key: "Escape", label: t("Choose nobody"), act: () => choose(null) },
    ],
    [nodes],
  );
  return (
    <Page title={centre ? t("The network of {name}", { name }) : t("Network")} width="wide" {...(centre ? { back: `/people/${centre}` } : {})}>
      <Filters centre={centre} />
      <div class="network">
        <div class="network-side-picture">
          <Picture graph={graph} control={picture} onSelect={(node) => choose(node, false)} selected={selected} />
          <Colors graph={graph} />
        </div>
        <div class="stack">
          {selected && <Chosen node={selected} centre={centre} onChoose={choose} />}
          <Field label={t("Find in the network")}>
            {(attributes) => (
              <input
                {...attributes}
                ref={box}
                type="search"
                value={words}
                autocomplete="off"
                enterkeyhint="search"
                onInput={({ currentTarget }) => setWords(currentTarget.value)}
                onKeyDown={(event) => {
                  if (event.key === "Enter" && found[0]) choose(found[0]);
                  else if (event.key === "ArrowDown") list.current?.focus(0);
                  else if (event.key === "Escape" && words) setWords("");
                  else return;
                  event.preventDefault();
                }}
              />
            )}
          </Field>
          <p class="soft small" role="status">
            {graph && `${tn("{count} person", "{count} people", found.filter(({ isUser }) => !isUser).length)} · ${tn("{count} relationship", "{count} relationships", graph.ties.length)}`}
          </p>
          {graph && found.length === 0 && <p class="card">{words ? t("Nobody is found.") : t("There is nobody here yet.")}</p>}
          <VirtualList
            label={t("The network as a list")}
            items={found}
            rowHeight={ROW_HEIGHT}
            keyOf={({ id }) => id}
            textOf={(node) => account.person(node.id)?.sortKey ?? node.name.toLowerCase()}
            control={list}
            onOpen={(node) => choose(node)}
            render={(node) => (
              <>
                <span role="gridcell" class="network-cell">
                  <button class="plain network-name" tabIndex={-1} aria-pressed={node.id === selectedId} onClick={() => choose(node)}>
                    <Face node={node} />
                    <span class="network-text">
                      <bdi>{node.name}</bdi>
                      <span class="soft small">{summaryOf(node, types)}</span>
                    </span>
                  </button>
                </span>
                {node.id !== USER && (
                  <span role="gridcell">
                    <a class="button plain icon" tabIndex={-1} href={href(`/people/${node.id}`)} aria-label={t("Open {name}", { name: node.name })}>
                      <Icon name="people" />
                    </a>
                  </span>
                )}
              </>
            )}
          />
        </div>
      </div>
    </Page>
  );
}

// The graph with the filters of the address; undefined while relationships are read.
function useGraph(centre: string | null): Graph | undefined {
  const account = useAccount();
  const relationships = useAll("relationship").value;
  const { query } = place.value;
  const people = account.people.value;
  const types = account.relationshipTypes.byId.value;
  const groups = account.groups.byId.value;
  const meId = account.meId;
  return useMemo(() => {
    if (!relationships) return undefined;
    const filter = { group: query.get("group"), type: query.get("type"), withAlone: query.get("alone") !== "no" };
    const whole = buildGraph({ people, relationships, types, groups, meId }, filter);
    return centre ? surroundingsOf(whole, centre, Number(query.get("steps") ?? 1)) : whole;
  }, [relationships, people, account.peopleVersion.value, types, groups, meId, query, centre]);
}

function useFound(graph: Graph | undefined, words: string): Node[] {
  const account = useAccount();
  return useMemo(() => {
    if (!graph) return [];
    if (!words.trim()) return graph.nodes;
    const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
    const rows = graph.nodes.map(({ id }) => account.person(id)).filter((row): row is PersonRow => row !== undefined);
    return search(rows, words).map(({ id }) => nodes.get(id)!);
  }, [graph, words]);
}

function Filters({ centre }: { centre: string | null }) {
  const account = useAccount();
  const { query } = place.value;
  const groups = account.groups.all.sort((one, other) => one.name.localeCompare(other.name));
  const types = typePairs(account.relationshipTypes.byId.value);
  return (
    <div class="network-filters" role="group" aria-label={t("Filter")}>
      <SelectField label={t("Group")} value={query.get("group") ?? ""} onValue={(group) => setQuery({ group })} options={[["", t("Everybody")], ...groups.map(({ id, name }) => [id, name] as const)]} />
      <SelectField label={t("Relationship")} value={query.get("type") ?? ""} onValue={(type) => setQuery({ type })} options={[["", t("All relationships")], ...types]} />
      {centre ? (
        <SelectField
          label={t("How far")}
          value={query.get("steps") ?? "1"}
          onValue={(steps) => setQuery({ steps: steps === "1" ? null : steps })}
          options={[1, 2, 3].map((steps) => [String(steps), tn("{count} step", "{count} steps", steps)] as const)}
        />
      ) : (
        <Check label={t("Also people without a relationship")} isChecked={query.get("alone") !== "no"} onChange={(isOn) => setQuery({ alone: isOn ? null : "no" })} />
      )}
    </div>
  );
}

interface PictureProps {
  graph: Graph | undefined;
  control: { current: NetworkPicture | null };
  selected: Node | null;
  onSelect: (node: Node | null) => void;
}

function Picture({ graph, control, selected, onSelect }: PictureProps) {
  const account = useAccount();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isArranging, setArranging] = useState(true);
  const select = useRef(onSelect);
  select.current = onSelect;
  const arranged = useRef<string | null>(null);
  const wanted = useRef(selected);
  wanted.current = selected;
  useEffect(() => {
    const picture = new NetworkPicture(canvas.current!, (node) => select.current(node));
    control.current = picture;
    return () => {
      control.current = null;
      picture.close();
    };
  }, []);
  useEffect(() => {
    if (!graph) return;
    const shape = shapeOf(graph);
    const isNew = shape !== arranged.current;
    if (isNew) setArranging(true);
    const types = account.relationshipTypes.byId.peek();
    control.current!.show(graph, knownPositions(graph), (typeId) => types.get(typeId ?? "")?.color ?? null);
    control.current!.select(wanted.current);
    if (!isNew) return; // a name or a colour has changed
    arranged.current = "";
    const isFromAddress = place.value.query.has("at");
    return arrange(graph, ({ positions, isDone }) => {
      control.current?.place(positions);
      if (!isDone) return;
      arranged.current = shape;
      setArranging(false);
      if (isFromAddress && wanted.current) control.current?.centreOn(wanted.current);
    });
  }, [graph]);
  const pan = { ArrowLeft: [PAN_PIXELS, 0], ArrowRight: [-PAN_PIXELS, 0], ArrowUp: [0, PAN_PIXELS], ArrowDown: [0, -PAN_PIXELS] } as Record<string, [number, number]>;
  return (
    <div
      class="network-picture"
      role="group"
      tabIndex={0}
      aria-label={t("Picture of the network. The arrow keys move it, + and - zoom, 0 shows all of it.")}
      data-layout={isArranging ? "moving" : "done"}
      onKeyDown={(event) => {
        const step = event.ctrlKey || event.metaKey || event.altKey ? undefined : pan[event.key];
        if (!step) return;
        event.preventDefault();
        control.current?.pan(...step);
      }}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <div class="network-zoom no-print">
        <button class="icon" aria-label={t("Nearer")} title={t("Nearer")} onClick={() => control.current?.zoom(1.5)}>
          +
        </button>
        <button class="icon" aria-label={t("Farther")} title={t("Farther")} onClick={() => control.current?.zoom(1 / 1.5)}>
          −
        </button>
        <button class="icon" aria-label={t("Show all of it")} title={t("Show all of it")} onClick={() => control.current?.showAll()}>
          <Icon name="whole" />
        </button>
      </div>
      {isArranging && <p class="network-state small soft">{t("Arranging …")}</p>}
    </div>
  );
}

function Face({ node }: { node: Node }) {
  const account = useAccount();
  if (node.id === USER) return <Avatar person={{ id: USER, name: node.name, photo: account.settings.value.photo ?? null }} isUser />;
  return <Avatar person={account.person(node.id) ?? { id: node.id, name: node.name, photo: null }} />;
}

function summaryOf(node: Node, types: Parameters<typeof tieInWords>[2]): string {
  if (node.ties.length === 0) return t("No relationship");
  const shown = node.ties.slice(0, TIES_IN_ROW).map((tie) => tieInWords(tie, node, types));
  const rest = node.ties.length - shown.length;
  return formatList(rest > 0 ? [...shown, tn("{count} more", "{count} more", rest)] : shown);
}

interface ChosenProps {
  node: Node;
  centre: string | null;
  onChoose: (node: Node | null) => void;
}

// Who was chosen, and their ties, each of which leads on.
function Chosen({ node, centre, onChoose }: ChosenProps) {
  const account = useAccount();
  const types = account.relationshipTypes.byId.value;
  const groups = node.groupIds.flatMap((id) => account.groups.byId.value.get(id)?.name ?? []);
  return (
    <section class="card stack tight" aria-label={t("Chosen")}>
      <div class="row apart nowrap">
        <div class="row nowrap">
          <Face node={node} />
          <div>
            <h2>
              <bdi>{node.name}</bdi>
            </h2>
            {groups.length > 0 && <p class="soft small">{formatList(groups)}</p>}
          </div>
        </div>
        <button class="plain icon" aria-label={t("Choose nobody")} onClick={() => onChoose(null)}>
          <Icon name="close" />
        </button>
      </div>
      {node.id !== USER && (
        <p class="row">
          <a class="button" href={href(`/people/${node.id}`)}>
            {t("Open the page of {name}", { name: node.name })}
          </a>
          {node.id !== centre && (
            <button onClick={() => navigate(`/people/${node.id}/network`)}>{t("Only their network")}</button>
          )}
        </p>
      )}
      <ul class="network-ties">
        {node.ties.slice(0, TIES_SHOWN).map((tie, index) => (
          <li key={index}>
            <button class="chip" onClick={() => onChoose(tie.from === node ? tie.to : tie.from)}>
              {tieInWords(tie, node, types)}
            </button>
          </li>
        ))}
      </ul>
      {node.ties.length > TIES_SHOWN && <p class="soft small">{tn("{count} more", "{count} more", node.ties.length - TIES_SHOWN)}</p>}
    </section>
  );
}

// What the colours mean: groups for people, types for lines.
function Colors({ graph }: { graph: Graph | undefined }) {
  const account = useAccount();
  const [groupIds, typeIds] = useMemo(() => {
    const color = new Set(graph?.nodes.flatMap(({ groupIds: [first] }) => first ?? []));
    return [color, new Set(graph?.ties.flatMap(({ typeId }) => typeId ?? []))];
  }, [graph]);
  const groups = account.groups.all.filter(({ id }) => groupIds.has(id));
  const types = account.relationshipTypes.all.filter(({ id }) => typeIds.has(id));
  if (groups.length + types.length === 0) return null;
  return (
    <details class="network-colors">
      <summary>{t("What the colours mean")}</summary>
      <ul class="row">
        {groups.map(({ id, name, color }) => (
          <li key={id} class="row tight-gap">
            <span class="dot" style={{ background: color }} />
            <bdi>{name}</bdi>
          </li>
        ))}
        {types.map(({ id, label, color }) => (
          <li key={id} class="row tight-gap">
            <span class="network-line" style={{ background: color }} />
            {label}
          </li>
        ))}
      </ul>
    </details>
  );
}
