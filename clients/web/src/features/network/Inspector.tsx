// Who was chosen in the network: their ties in words, each of which leads on, and the way to another one.
import { href, navigate } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { formatList, t, tn } from "../../i18n/index.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { labelOf, type Node, otherEnd, type Tie, USER } from "./graph.ts";

const TIES_SHOWN = 60;

export function Face({ node, size }: { node: Node; size?: "small" | "big" }) {
  return <Avatar person={node} size={size} isUser={node.id === USER} />;
}

function About({ node }: { node: Node }) {
  const account = useAccount();
  const row = account.person(node.id);
  const groups = node.groupIds.flatMap((id) => account.groups.byId.value.get(id)?.name ?? []);
  const about = [row?.jobTitle || row?.organization, row?.town, formatList(groups)].filter(Boolean).join(" · ");
  return about ? <span class="soft small">{about}</span> : null;
}

interface Props {
  node: Node;
  centre: string | null;
  way: Way | null;
  onChoose: (node: Node | null) => void;
  onTie: (from: Node) => void;
  onWay: (from: Node | null) => void;
}

export interface Way {
  from: Node;
  nodes: readonly Node[] | null; // none leads there
}

export function Chosen({ node, centre, way, onChoose, onTie, onWay }: Props) {
  const types = useAccount().relationshipTypes.byId.value;
  const isPerson = node.id !== USER;
  return (
    <section class="stack" aria-label={t("Chosen")}>
      <div class="row nowrap">
        <Face node={node} size="big" />
        <div class="grow network-who">
          <h2>
            <bdi>{node.name}</bdi>
          </h2>
          <About node={node} />
        </div>
        <button class="plain icon" aria-label={t("Choose nobody")} onClick={() => onChoose(null)}>
          <Icon name="close" />
        </button>
      </div>
      {isPerson && (
        <p class="row">
          <a class="button tint grow" href={href(`/people/${node.id}`)} aria-label={t("Open the page of {name}", { name: node.name })}>
            {t("Open")}
          </a>
          {node.id !== centre && (
            <button class="button grow" onClick={() => navigate(`/people/${node.id}/network`)}>
              {t("Around them")}
            </button>
          )}
        </p>
      )}
      <section class="section">
        <header>
          <h3 class="grow">{t("Ties")}</h3>
          {isPerson && (
            <button class="plain icon" aria-label={t("Add a tie of {name}", { name: node.name })} title={t("Add a tie of {name}", { name: node.name })} onClick={() => onTie(node)}>
              <Icon name="add" />
            </button>
          )}
        </header>
        {node.ties.length === 0 && <p class="soft small">{t("None yet. Draw a line from face to face, or add one here.")}</p>}
        <ul>
          {node.ties.slice(0, TIES_SHOWN).map((tie, index) => (
            <li key={index}>
              <TieLine tie={tie} node={node} label={labelOf(tie, node, types)} onChoose={onChoose} />
            </li>
          ))}
        </ul>
        {node.ties.length > TIES_SHOWN && <p class="soft small">{tn("{count} more", "{count} more", node.ties.length - TIES_SHOWN)}</p>}
      </section>
      <WayTo node={node} way={way} onWay={onWay} onChoose={onChoose} />
    </section>
  );
}

function TieLine({ tie, node, label, onChoose }: { tie: Tie; node: Node; label: string; onChoose: (node: Node) => void }) {
  const other = otherEnd(tie, node);
  return (
    <button class="network-tie" onClick={() => onChoose(other)}>
      <Face node={other} />
      <span class="network-text">
        <span class="of cut">{label}</span>
        <bdi class="cut">{other.name}</bdi>
      </span>
    </button>
  );
}

function WayTo({ node, way, onWay, onChoose }: Pick<Props, "node" | "way" | "onWay" | "onChoose">) {
  if (!way) {
    return (
      <section class="section">
        <header>
          <h3 class="grow">{t("The way between two")}</h3>
        </header>
        <button class="button" onClick={() => onWay(node)}>
          {t("From here to …")}
        </button>
      </section>
    );
  }
  const isBegun = way.from === node;
  return (
    <section class="section" aria-label={t("The way between two")}>
      <header>
        <h3 class="grow">{t("The way between two")}</h3>
        <button class="plain icon" aria-label={t("End the way")} onClick={() => onWay(null)}>
          <Icon name="close" />
        </button>
      </header>
      {isBegun && <p class="soft small">{t("Choose a second person: you see how they are connected.")}</p>}
      {!isBegun && !way.nodes && <p class="soft small">{t("No way leads from {name} to {other}.", { name: way.from.name, other: node.name })}</p>}
      {!isBegun && way.nodes && (
        <ol class="network-way">
          {way.nodes.map((each) => (
            <li key={each.id}>
              <button class="network-tie" onClick={() => onChoose(each)}>
                <Face node={each} size="small" />
                <bdi class="cut">{each.name}</bdi>
              </button>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

// Over the picture, where there is no room for the inspector beside it.
export function Peek({ node }: { node: Node }) {
  const types = useAccount().relationshipTypes.byId.value;
  const [first] = node.ties;
  return (
    <div class="bleed-peek">
      <Face node={node} />
      <span class="grow network-text">
        <bdi class="cut">{node.name}</bdi>
        <span class="soft small cut">
          {tn("{count} tie", "{count} ties", node.ties.length)}
          {first && ` · ${labelOf(first, node, types)}: ${otherEnd(first, node).name}`}
        </span>
      </span>
      {node.id !== USER && (
        <a class="button tint" href={href(`/people/${node.id}`)} aria-label={t("Open {name}", { name: node.name })}>
          {t("Open")}
        </a>
      )}
    </div>
  );
}
