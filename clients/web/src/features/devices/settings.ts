// The settings of a device as the values of a form.
import type { components } from "contacts-client";

type Schemas = components["schemas"];

export interface DeviceValues {
  name: string;
  isSelection: boolean;
  groupIds: string[];
  favourites: boolean;
  reachable: boolean;
  groupCards: boolean;
  alarms: boolean;
}

export const NEW_DEVICE: DeviceValues = { name: "", isSelection: false, groupIds: [], favourites: false, reachable: false, groupCards: false, alarms: false };

export function valuesOf({ name, book, groupCards, alarms }: Pick<Schemas["ApiToken"], "name" | "book" | "groupCards" | "alarms">): DeviceValues {
  const { groupIds = [], favourites = false, reachable = false } = book ?? {};
  return { name, isSelection: book !== null, groupIds, favourites, reachable, groupCards, alarms };
}

// Whom the device gets; null for everybody.
export function bookOf({ isSelection, groupIds, favourites, reachable }: DeviceValues): Schemas["Book"] | null {
  if (!isSelection) return null;
  return { ...(groupIds.length && { groupIds }), ...(favourites && { favourites }), ...(reachable && { reachable }) };
}

// What a request says of these values.
export function bodyOf(values: DeviceValues) {
  const { name, groupCards, alarms } = values;
  return { name: name.trim(), groupCards, alarms, book: bookOf(values) };
}

export function isComplete(values: DeviceValues): boolean {
  return values.name.trim() !== "" && (!values.isSelection || Object.keys(bookOf(values)!).length > 0);
}
