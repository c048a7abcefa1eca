// What the service says of itself: where it is reached, what it can do. Asked for when a page needs it.
import { connection } from "../app/session.ts";
import { useRemote } from "./remote.ts";

export interface Instance {
  baseUrl: string | null; // null: it is reached where the browser has found it
  mapTilesUrl: string | null;
  mapTilesAttribution: string | null;
  geocoding: boolean;
  mail: boolean; // whether mails leave this instance
}

const OFFLINE: Instance = { baseUrl: null, mapTilesUrl: null, mapTilesAttribution: null, geocoding: false, mail: true };

// Undefined while it is asked; without a network nothing is known of it.
export function useInstance(): Instance | undefined {
  const [remote] = useRemote<Instance>("instance", async (signal) => {
    const { data } = await connection.api.GET("/api/instance", { signal });
    return data!;
  });
  const { data, problem } = remote.value;
  return data ?? (problem ? OFFLINE : undefined);
}
