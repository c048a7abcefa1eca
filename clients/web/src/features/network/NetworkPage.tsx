// The network as a picture, and the same as a list: of everybody, or of one person.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { href, navigate, place, setQuery } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { formatList, t, tn } from "../../i18n/index.ts";
import { useAll, useRecord } from "../../store/records.ts";
import { type PersonRow, search } from "../../store/people.ts";
import { announce } from "../../ui/announce.ts";
import { Empty } from "../../ui/Empty.tsx";
import { Check, SelectField } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { isComposing, useKeys } from "../../ui/keyboard.ts";
import { lazy } from "../../ui/lazy.tsx";
import { isPhone } from "../../ui/media.ts";
import { Page } from "../../ui/Page.tsx";
import { type ListControl, VirtualList } from "../../ui/VirtualList.tsx";
import { PersonGone } from "../person/PersonGone.tsx";
import { buildGraph, type Graph, labelOf, type Node, otherEnd, surroundingsOf, typePairs, USER, wayBetween } from "./graph.ts";
import { Chosen, Face, Peek, type Way } from "./Inspector.tsx";
import { arrange, knownPositions, shapeOf } from "./layout.ts";
import { NetworkPicture, READABLE_SCALE } from "./picture.ts";
import { GroupChips } from "../groups/GroupChips.tsx";
import "../../styles/bleed.css";
import "./network.css";

const RelationshipDialog = lazy(() => import("../person/RelationshipDialog.tsx"));

const ROW_HEIGHT = 60;
const TIES_IN_ROW = 3;
const PAN_PIXELS = 60;
const HUES = Array.from({ length: 12 }, (_, number) => `hue-${number}`);

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
  const [fromId, setFromId] = useState<string | null>(null); // where the way between two begins
  const [newTie, setNewTie] = useState<{ from: string; to: string | null } | null>(null);
  const [hasFilter, setFilter] = useState(place.value.query.has("type"));
  const picture = useRef<NetworkPicture | null>(null);
  const list = useRef<ListControl | null>(null);
  const box = useRef<HTMLInputElement>(null);
  const nodes = useMemo(() => new Map(graph?.nodes.map((node) => [node.id, node])), [graph]);
  const found = useFound(graph, words);
  const selected = nodes.get(selectedId ?? "") ?? null;
  const way = useMemo((): Way | null => {
    const from = nodes.get(fromId ?? "");
    return from ? { from, nodes: selected && selected !== from ? wayBetween(from, selected) : null } : null;
  }, [nodes, fromId, selected]);
  useEffect(() => picture.current?.select(selected, way?.nodes ?? []), [selected, way]);
  const choose = (node: Node | null, moves = true) => {
    setSelectedId(node?.id ?? null);
    if (!node) return setFromId(null);
    if (moves) picture.current?.centreOn(node);
    announce(`${node.name}: ${tn("{count} tie", "{count} ties", node.ties.length)}`);
  };
  const walk = (node: Node) => {
    choose(node, false);
    picture.current?.centreOn(node, 0);
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
    <Page
      title={centre ? t("The network of {name}", { name }) : t("Network")}
      width="bleed"
      {...(centre ? { back: `/people/${centre}` } : {})}
      actions={
        <>
          <span class="soft small network-count" role="status">
            {graph && `${tn("{count} person", "{count} people", found.filter(({ isUser }) => !isUser).length)} · ${tn("{count} tie", "{count} ties", graph.ties.length)}`}
          </span>
          <button class="button" aria-expanded={hasFilter} onClick={() => setFilter(!hasFilter)}>
            <Icon name="filter" />
            {t("Ties")}
          </button>
        </>
      }
    >
      <div>
        <GroupChips />
        {hasFilter && <Filters centre={centre} />}
      </div>
      <div class="bleed-body">
        <Picture graph={graph} control={picture} onSelect={(node) => choose(node, false)} onTie={(from, to) => setNewTie({ from: from.id, to: to.id })} onWalk={walk} selected={selected} />
        <aside class="bleed-side pane" aria-label={t("The network as a list")}>
          <label class="search-field">
            <Icon name="search" size={18} />
            <input
              aria-label={t("Find in the network")}
              placeholder={t("Find in the network")}
              ref={box}
              type="search"
              value={words}
              autocomplete="off"
              enterkeyhint="search"
              onInput={({ currentTarget }) => setWords(currentTarget.value)}
              onKeyDown={(event) => {
                if (isComposing(event)) return;
                if (event.key === "Enter" && found[0]) choose(found[0]);
                else if (event.key === "ArrowDown") list.current?.focus(0);
                else if (event.key === "Escape" && words) setWords("");
                else return;
                event.preventDefault();
              }}
            />
          </label>
          {selected && (
            <Chosen
              node={selected}
              centre={centre}
              way={way}
              onChoose={choose}
              onTie={(from) => setNewTie({ from: from.id, to: null })}
              onWay={(from) => {
                setFromId(from?.id ?? null);
                if (from) box.current?.focus();
              }}
            />
          )}
          {graph && found.length === 0 && <NobodyHere isFiltered={words !== "" || place.value.query.size > 0} />}
          <VirtualList
            label={t("The network as a list")}
            items={found}
            rowHeight={ROW_HEIGHT}
            keyOf={({ id }) => id}
            textOf={(node) => account.person(node.id)?.sortKey ?? node.name.toLowerCase()}
            control={list}
            onOpen={(node) => choose(node)}
            render={(node) => <Row node={node} isChosen={node.id === selectedId} onChoose={choose} />}
          />
        </aside>
      </div>
      {newTie && <RelationshipDialog personId={newTie.from} otherId={newTie.to} onClose={() => setNewTie(null)} />}
    </Page>
  );
}

function NobodyHere({ isFiltered }: { isFiltered: boolean }) {
  return (
    <Empty kind="tie" {...(!isFiltered && { title: t("A network of one") })}>
      <p>{isFiltered ? t("Nobody is found.") : t("Say on a person's page who belongs to whom, and the lines appear.")}</p>
      {!isFiltered && (
        <button class="button" onClick={() => setQuery({ alone: "yes" })}>
          {t("Show people without a tie")}
        </button>
      )}
    </Empty>
  );
}

function Row({ node, isChosen, onChoose }: { node: Node; isChosen: boolean; onChoose: (node: Node) => void }) {
  const types = useAccount().relationshipTypes.byId.value;
  const shown = node.ties.slice(0, TIES_IN_ROW).map((tie) => `${otherEnd(tie, node).name} (${labelOf(tie, node, types)})`);
  const rest = node.ties.length - shown.length;
  return (
    <>
      <span role="gridcell" class="network-cell">
        <button class="network-name" tabIndex={-1} aria-pressed={isChosen} onClick={() => onChoose(node)}>
          <Face node={node} />
          <span class="network-text">
            <bdi class="cut">{node.name}</bdi>
            <span class="soft small cut">{shown.length === 0 ? t("No tie yet") : formatList(rest > 0 ? [...shown, tn("{count} more", "{count} more", rest)] : shown)}</span>
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
  const userPhoto = account.settings.value.photo ?? null;
  return useMemo(() => {
    if (!relationships) return undefined;
    const filter = { group: query.get("group"), type: query.get("type"), withAlone: query.get("alone") === "yes" };
    const whole = buildGraph({ people, relationships, types, groups, meId, userPhoto }, filter);
    return centre ? surroundingsOf(whole, centre, Number(query.get("steps") ?? 1)) : whole;
  }, [relationships, people, account.peopleVersion.value, types, groups, meId, userPhoto, query, centre]);
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
  const types = typePairs(account.relationshipTypes.byId.value);
  return (
    <div class="network-filter" role="group" aria-label={t("Filter")}>
      <SelectField label={t("Relationship")} value={query.get("type") ?? ""} onValue={(type) => setQuery({ type })} options={[["", t("All relationships")], ...types]} />
      {centre ? (
        <SelectField
          label={t("How far")}
          value={query.get("steps") ?? "1"}
          onValue={(steps) => setQuery({ steps: steps === "1" ? null : steps })}
          options={[1, 2, 3].map((steps) => [String(steps), tn("{count} step", "{count} steps", steps)] as const)}
        />
      ) : (
        <Check label={t("Also people without a tie")} isChecked={query.get("alone") === "yes"} onChange={(isOn) => setQuery({ alone: isOn ? "yes" : null })} />
      )}
    </div>
  );
}

interface PictureProps {
  graph: Graph | undefined;
  control: { current: NetworkPicture | null };
  selected: Node | null;
  onSelect: (node: Node | null) => void;
  onTie: (from: Node, to: Node) => void;
  onWalk: (node: Node) => void; // by the keyboard
}

const DIRECTIONS: Record<string, readonly [x: number, y: number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function Picture({ graph, control, selected, onSelect, onTie, onWalk }: PictureProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isArranging, setArranging] = useState(true);
  const acts = useRef({ onSelect, onTie });
  acts.current = { onSelect, onTie };
  const arranged = useRef<string | null>(null);
  const wanted = useRef(selected);
  wanted.current = selected;
  useEffect(() => {
    const picture = new NetworkPicture(canvas.current!, (node) => acts.current.onSelect(node), (from, to) => acts.current.onTie(from, to));
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
    control.current!.show(graph, knownPositions(graph));
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
      // On a phone it opens at the user, so that names can be read.
      else if (isPhone.peek() && graph.nodes[0]?.isUser) control.current?.centreOn(graph.nodes[0], READABLE_SCALE);
    });
  }, [graph]);
  // From who is chosen the arrows go along the ties; without anybody, or with Shift, they move the picture.
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    const direction = DIRECTIONS[event.key];
    if (direction && selected && !event.shiftKey) {
      const next = control.current?.neighbourOf(selected, direction);
      if (next) onWalk(next);
    } else if (direction) control.current?.pan(-direction[0] * PAN_PIXELS, -direction[1] * PAN_PIXELS);
    else if (event.key === "Enter" && selected) {
      if (selected.id !== USER) navigate(`/people/${selected.id}`);
    } else if (event.key === "Enter") {
      const middle = control.current?.middle();
      if (middle) onWalk(middle);
    } else return;
    event.preventDefault();
  };
  return (
    <div
      class="network-picture bleed-picture"
      role="group"
      tabIndex={0}
      aria-label={t("Picture of the network. Enter chooses who is in the middle, arrows then go along the ties, and Enter opens. Without anybody arrows move it, + and - zoom, 0 shows all of it.")}
      data-layout={isArranging ? "moving" : "done"}
      onKeyDown={press}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <div class="network-hues" hidden>
        {HUES.map((hue) => (
          <i key={hue} class={hue} />
        ))}
      </div>
      {selected && <Peek node={selected} />}
      <div class="bleed-zoom no-print">
        <button class="icon" aria-label={t("Nearer")} title={t("Nearer")} onClick={() => control.current?.zoom(1.5)}>
          <Icon name="add" />
        </button>
        <button class="icon" aria-label={t("Farther")} title={t("Farther")} onClick={() => control.current?.zoom(1 / 1.5)}>
          −
        </button>
        <button class="icon" aria-label={t("Show all of it")} title={t("Show all of it")} onClick={() => control.current?.showAll()}>
          <Icon name="whole" />
        </button>
        <button class="icon bleed-list" aria-label={t("Show the list")} title={t("Show the list")} onClick={() => document.querySelector(".bleed-side")?.scrollIntoView()}>
          <Icon name="menu" />
        </button>
      </div>
      {isArranging && <p class="bleed-state small soft">{t("Arranging …")}</p>}
    </div>
  );
}
