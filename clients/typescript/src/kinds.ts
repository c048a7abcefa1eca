// The types of records in a copy: their fields, where they are sent to, what they hang on.
import type { components } from "./schema.ts";
import type { Fields } from "./store.ts";

type Schemas = components["schemas"];

// The record of each type as the change feed sends it.
export type Records = { [C in Schemas["Change"] as C["type"]]: NonNullable<C["record"]> };
export type RecordType = keyof Records;

// What a new record of each type that can be edited may say. The id is made by the copy unless it is given.
export interface NewRecords {
  customFieldTemplate: Schemas["TemplateCreateRequest"];
  group: Schemas["GroupCreateRequest"];
  importantDate: Schemas["ImportantDateRequest"] & { personId: string; id?: string };
  interaction: Schemas["InteractionCreateRequest"];
  person: Schemas["PersonRequest"];
  relationship: Schemas["RelationshipCreateRequest"];
  relationshipType: Schemas["NewRelationshipTypeRequest"];
}
export type EditableType = keyof NewRecords;
export type DeleteOptions = Partial<Schemas["PersonDeleteRequest"]>;
export type AcceptOptions = Omit<Schemas["AcceptMeetingsRequest"], "ids">;
export type DismissOptions = Omit<Schemas["DismissMeetingsRequest"], "ids">;

interface Kind<T extends EditableType> {
  // The path of the list, which may contain fields of the record.
  path: string;
  // The fields of a response which repeat data of other records. The change feed omits those.
  notInFeed?: string[];
  // What the service adds to a new record, so that one that was not sent yet has all of its fields. Names of others that
  // a record repeats are empty until then.
  defaults: Omit<Records[T], "id" | "createdAt" | "updatedAt" | keyof NewRecords[T]> & Partial<Records[T]>;
}

const KINDS: { [T in EditableType]: Kind<T> } = {
  customFieldTemplate: { path: "/api/custom-field-templates", defaults: { slug: "", options: [], order: 0, deletedAt: null } },
  group: {
    path: "/api/groups",
    notInFeed: ["people"],
    defaults: {
      description: null,
      color: "#868E96",
      contactReminder: null,
      leadDays: null,
      memberCount: 0,
      deletedAt: null,
    },
  },
  importantDate: {
    path: "/api/people/{personId}/important-dates",
    defaults: {
      type: null,
      title: null,
      yearUnknown: false,
      reminderEnabled: false,
      reminderType: null,
      reminderInterval: null,
      reminderIntervalUnit: null,
      reminderLeadDays: null,
      extraLeadDays: [],
      deletedAt: null,
    },
  },
  interaction: { path: "/api/interactions", defaults: { title: null, notes: null, people: [], deletedAt: null } },
  person: {
    path: "/api/people",
    notInFeed: ["groups", "relationshipToUser", "relationships", "importantDates"],
    defaults: {
      surname: null,
      middleName: null,
      secondLastName: null,
      nickname: null,
      phoneticName: null,
      phoneticSurname: null,
      prefix: null,
      suffix: null,
      displayName: "",
      displayNameOverride: null,
      organization: null,
      jobTitle: null,
      gender: null,
      anniversary: null,
      deathday: null,
      lastContact: null,
      notes: null,
      relationshipToUserId: null,
      groupIds: [],
      contactReminderEnabled: false,
      contactReminderInterval: null,
      contactReminderIntervalUnit: null,
      contactReminderFrom: null,
      cardDavSyncEnabled: true,
      favourite: false,
      quiet: false,
      photo: null,
      uid: null,
      phoneNumbers: [],
      emails: [],
      addresses: [],
      urls: [],
      imHandles: [],
      locations: [],
      customFields: [],
      more: [],
      customFieldValues: [],
      deletedAt: null,
    },
  },
  relationship: {
    path: "/api/relationships",
    defaults: {
      relationshipTypeId: null,
      notes: null,
      person: { id: "", name: "" },
      relatedPerson: { id: "", name: "" },
      relationshipType: null,
      deletedAt: null,
    },
  },
  relationshipType: {
    path: "/api/relationship-types",
    defaults: { color: "#868E96", inverseId: null, inverse: null, symmetric: false, deletedAt: null },
  },
};

// Fields that the service computes from other records, or on each write.
const DERIVED_FIELDS = new Set([
  "contactReminderFrom",
  "createdAt",
  "displayName",
  "lastContact",
  "memberCount",
  "people",
  "person",
  "relatedPerson",
  "relationshipType",
  "updatedAt",
]);

// The type of what is answered: nobody edits it.
export const PROPOSAL = "meetingProposal";

export function isEditable(type: string): type is EditableType {
  return type in KINDS;
}

export function isDerived(field: string): boolean {
  return DERIVED_FIELDS.has(field);
}

export function listPath(type: string, record: Fields): string {
  const { path } = KINDS[type as EditableType];
  return path.replace(/\{(\w+)\}/g, (_, field: string) => String(record[field]));
}

// Converts a record of a response to the form that it has in the change feed.
export function toFeedRecord(type: string, record: Fields): Fields {
  const notInFeed = isEditable(type) ? KINDS[type].notInFeed : undefined;
  const kept = Object.fromEntries(Object.entries(record).filter(([name]) => !notInFeed?.includes(name)));
  const values = kept["customFieldValues"] as Fields[] | undefined;
  const shortValues = values?.map(({ id, templateId, value }) => ({ id, templateId, value }));
  return shortValues === undefined ? kept : { ...kept, customFieldValues: shortValues };
}

// A record that was made here and not sent yet, with all fields of its type.
export function toNewRecord(type: string, id: string, body: Fields): Fields {
  const at = madeAt(id);
  return { ...(isEditable(type) ? KINDS[type].defaults : {}), createdAt: at, updatedAt: at, ...body, id };
}

// The time in an id of version 7, which the copy makes; the epoch for other ids.
function madeAt(id: string): string {
  const milliseconds = id[14] === "7" ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : 0;
  return new Date(milliseconds).toISOString();
}

// The people that a record hangs on: each is `type personId`, so that a store finds the dates of a person by an index. Of a
// relationship only the first person, as the other one has a row of its own.
export function refsOf(type: string, record: Fields): string[] {
  if (type === "interaction") return (record["personIds"] as string[]).map((id) => `${type} ${id}`);
  if (type === "importantDate" || type === "relationship") return [`${type} ${String(record["personId"])}`];
  return [];
}

export const HANGING_TYPES = ["importantDate", "interaction", "relationship"] as const;
