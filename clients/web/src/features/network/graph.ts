// The network as a graph, from the copy: the user, the people, and one tie for each pair and type, as GET /api/dashboard/graph
// has them.
import type { Records } from "contacts-client";
import { t } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { hueOf, nearestHue } from "../../ui/hue.ts";

export const USER = "user";

type Types = ReadonlyMap<string, Records["relationshipType"]>;
type Relationship = Records["relationship"];

export interface Node {
  id: string;
  name: string;
  photo: string | null;
  hue: string; // of the person
  ring: string; // the hue of the first group, or of the person
  group: { id: string; name: string } | null; // the first one
  groupIds: readonly string[];
  isUser: boolean;
  ties: Tie[];
}

// `from` is `type` of `to`.
export interface Tie {
  from: Node;
  to: Node;
  typeId: string | null;
}

export interface Graph {
  nodes: Node[];
  ties: Tie[];
}

export interface Filter {
  group: string | null;
  type: string | null; // of a pair of types, one of the two
  withAlone: boolean; // also people without a tie
}

interface Source {
  people: readonly PersonRow[];
  relationships: readonly Relationship[];
  types: Types;
  groups: ReadonlyMap<string, Records["group"]>;
  meId: string | null; // of the person that the user is
  userPhoto: string | null;
}

export function buildGraph({ people, relationships, types, groups, meId, userPhoto }: Source, { group, type, withAlone }: Filter): Graph {
  const nodes = new Map<string, Node>();
  const hueOfUser = hueOf(USER);
  let user: Node = { id: USER, name: t("You"), photo: userPhoto, hue: hueOfUser, ring: hueOfUser, group: null, groupIds: [], isUser: true, ties: [] };
  for (const { id, name, photo, groupIds } of people) {
    const isUser = id === meId;
    if (!isUser && group && !groupIds.includes(group)) continue;
    const first = groups.get(groupIds.find((key) => groups.has(key)) ?? "");
    const hue = hueOf(id);
    const node = { id, name, photo, hue, ring: first ? nearestHue(first.color) : hue, group: isUser ? null : (first ?? null), groupIds, isUser, ties: [] };
    nodes.set(id, node);
    if (isUser) user = node;
  }
  const ties: Tie[] = [];
  const tie = (from: Node | undefined, to: Node | undefined, typeId: string | null) => {
    if (!from || !to || !isOfType(typeId, type, types)) return;
    const made = { from, to, typeId };
    ties.push(made);
    from.ties.push(made);
    to.ties.push(made);
  };
  const toUser = new Set<string>(); // what relationships say, from either end
  for (const row of onePerPair(relationships, types)) {
    tie(nodes.get(row.personId), nodes.get(row.relatedPersonId), row.relationshipTypeId ?? null);
    if (row.relatedPersonId === user.id) toUser.add(`${row.personId} ${row.relationshipTypeId}`);
    if (row.personId === user.id) toUser.add(`${row.relatedPersonId} ${inverseOf(row.relationshipTypeId, types)}`);
  }
  for (const { id, toUserTypeId } of people) {
    if (toUserTypeId && id !== user.id && !toUser.has(`${id} ${toUserTypeId}`)) tie(nodes.get(id), user, toUserTypeId);
  }
  const shown = [...nodes.values()].filter((node) => !node.isUser && (withAlone || node.ties.length > 0));
  // The user is there when a tie needs it, and in the whole network.
  return { nodes: user.ties.length || (!group && !type && withAlone) ? [user, ...shown] : shown, ties };
}

// Each relationship is two rows, of which one that was made here may not have the other yet.
function onePerPair(rows: readonly Relationship[], types: Types): Relationship[] {
  const known = new Set<string>();
  const found: Relationship[] = [];
  const take = (row: Relationship, key: string) => {
    if (known.has(key)) return;
    known.add(key);
    found.push(row);
  };
  const isForward = ({ personId, relatedPersonId }: Relationship) => personId < relatedPersonId;
  for (const row of rows) if (isForward(row)) take(row, `${row.personId} ${row.relatedPersonId} ${row.relationshipTypeId ?? ""}`);
  for (const row of rows) if (!isForward(row)) take(row, `${row.relatedPersonId} ${row.personId} ${inverseOf(row.relationshipTypeId, types) ?? ""}`);
  return found;
}

function inverseOf(typeId: string | null | undefined, types: Types): string | null {
  const type = types.get(typeId ?? "");
  return type?.symmetric ? type.id : (type?.inverse?.id ?? type?.inverseId ?? null);
}

function isOfType(typeId: string | null, wanted: string | null, types: Types): boolean {
  return !wanted || typeId === wanted || (typeId !== null && inverseOf(typeId, types) === wanted);
}

// The nodes within some steps of one, and all ties among them. Ways do not lead through the user, who knows everybody.
export function surroundingsOf({ nodes, ties }: Graph, id: string, steps: number): Graph {
  const start = nodes.find((node) => node.id === id);
  const found = new Map<Node, number>(start ? [[start, 0]] : []);
  // A map goes on with what is added to it.
  for (const [node, step] of found) {
    if (step === steps || (node.isUser && step > 0)) continue;
    for (const tie of node.ties) if (!found.has(otherEnd(tie, node))) found.set(otherEnd(tie, node), step + 1);
  }
  const isInside = ({ from, to }: Tie) => found.has(from) && found.has(to);
  const copies = new Map([...found.keys()].map((node) => [node, { ...node, ties: [] as Tie[] }] as const));
  const inside = ties.filter(isInside).map(({ from, to, typeId }) => ({ from: copies.get(from)!, to: copies.get(to)!, typeId }));
  for (const tie of inside) {
    tie.from.ties.push(tie);
    tie.to.ties.push(tie);
  }
  return { nodes: [...copies.values()], ties: inside };
}

export function otherEnd({ from, to }: Tie, node: Node): Node {
  return from === node ? to : from;
}

// What the other end is to the node: "Parent".
export function labelOf(tie: Tie, node: Node, types: Types): string {
  const type = types.get(tie.typeId ?? "");
  const label = tie.from === node && !type?.symmetric ? type?.inverse?.label : type?.label;
  return label ?? t("Connected");
}

// The shortest way from one to another, both included; null if there is none. It does not lead through the user, who knows
// everybody.
export function wayBetween(from: Node, to: Node): Node[] | null {
  const before = new Map<Node, Node | null>([[from, null]]);
  for (const [node] of before) {
    if (node === to) {
      const way: Node[] = [];
      for (let at: Node | null = node; at; at = before.get(at) ?? null) way.unshift(at);
      return way;
    }
    if (node.isUser && node !== from) continue;
    for (const tie of node.ties) if (!before.has(otherEnd(tie, node))) before.set(otherEnd(tie, node), node);
  }
  return null;
}

// The types that are offered as a filter: one of each pair.
export function typePairs(types: Types): [id: string, label: string][] {
  const pairs = [...types.values()].filter(({ id, symmetric, inverse }) => symmetric || !inverse || !types.has(inverse.id) || id < inverse.id);
  const label = ({ symmetric, label: own, inverse }: Records["relationshipType"]) => (symmetric || !inverse ? own : `${own} – ${inverse.label}`);
  return pairs.map((type) => [type.id, label(type)] as [string, string]).sort(([, one], [, other]) => one.localeCompare(other));
}
