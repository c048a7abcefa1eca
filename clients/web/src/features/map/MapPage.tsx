// Where people are: a map with faces, a list by town beside it, and what was not found.
import { useMemo, useRef, useState } from "preact/hooks";
import { href, navigate, place, setQuery } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { fold } from "../../store/fold.ts";
import { useRemote } from "../../store/remote.ts";
import { useInstance } from "../../store/instance.ts";
import type { PersonRow, Place } from "../../store/people.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { SelectField } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { VirtualList } from "../../ui/VirtualList.tsx";
import PlacePicture, { type MapControl, type Tiles } from "./PlacePicture.tsx";
import { keyOf, type Places, placesOf, type Point, type Town, type TownPlaces } from "./places.ts";
import "./map.css";

const ROW_HEIGHT = 60;
const NOT_FOUND_SHOWN = 50;

interface Marker {
  id: string; // of the entry
  personId: string;
  precision: "address" | "town";
  latitude: number;
  longitude: number;
}

type Row = { town: Town; index: number } | { person: PersonRow; place: Place };

export default function MapPage() {
  const account = useAccount();
  const { query } = place.value;
  const group = query.get("group");
  const people = account.people.value;
  const [inTowns, isReading] = useTownPlaces();
  const places = useMemo(() => placesOf(people, group, inTowns), [people, account.peopleVersion.value, group, inTowns]);
  const [chosen, setChosen] = useState<Point[]>([]);
  const control = useRef<MapControl | null>(null);
  const instance = useInstance();
  const groups = account.groups.all.sort((one, other) => one.name.localeCompare(other.name));
  const tiles = useMemo<Tiles | null>(() => (instance?.mapTilesUrl ? { url: instance.mapTilesUrl, attribution: instance.mapTilesAttribution } : null), [instance]);
  return (
    <Page title={t("Map")} width="wide">
      <div class="map-filter">
        <SelectField label={t("Group")} value={group ?? ""} onValue={(id) => setQuery({ group: id })} options={[["", t("Everybody")], ...groups.map(({ id, name }) => [id, name] as const)]} />
      </div>
      <Looking places={places} isReading={isReading} canLookUp={instance?.geocoding ?? false} />
      <div class="map">
        <div class="map-side-picture">
          {instance !== undefined && <PlacePicture points={places.points} tiles={tiles} control={control} onChoose={setChosen} />}
          <p class="soft small">
            {tiles ? tiles.attribution : t("Coastlines: Natural Earth. Whoever runs this instance can set a server of map tiles.")}
            {places.hasTowns && <> {t("Towns: GeoNames (CC BY 4.0).")}</>}
          </p>
          {chosen.length > 0 && <ChosenPlaces points={chosen} onClose={() => setChosen([])} />}
        </div>
        <div class="stack">
          <NotFound places={places} />
          <Towns
            places={places}
            onShow={(points) => {
              control.current?.show(points);
              setChosen(points.length <= 1 ? [...points] : []);
            }}
          />
        </div>
      </div>
    </Page>
  );
}

// Of addresses of which only the town is known.
function useTownPlaces(): [TownPlaces, isReading: boolean] {
  const [found] = useRemote("towns of the map", async (signal) => (await connection.ask("GET", "/api/map/markers", undefined, { signal }))["markers"] as Marker[]);
  const { data, problem } = found.value;
  const places = useMemo(() => {
    const inTowns = (data ?? []).filter(({ precision }) => precision === "town");
    return new Map(inTowns.map(({ personId, id, latitude, longitude }) => [keyOf(personId, id), [latitude, longitude] as const]));
  }, [data]);
  return [places, data === undefined && problem === null];
}

// How the places come to be, and what still waits.
function Looking({ places: { points, waiting }, isReading, canLookUp }: { places: Places; isReading: boolean; canLookUp: boolean }) {
  const isOn = useAccount().settings.value.geocodingEnabled;
  if (isOn && waiting > 0) return <p class="banner">{tn("{count} address is still to be looked up.", "{count} addresses are still to be looked up.", waiting)}</p>;
  if (canLookUp && !isOn) {
    return (
      <p class="banner">
        {t("Your addresses are not looked up: they leave this instance only if you allow it.")}{" "}
        <a href={href("/account/preferences")}>{t("To the preferences")}</a>
      </p>
    );
  }
  if (points.length > 0 || isReading) return null;
  return <p class="card">{t("No place is known yet. The list shows towns by the addresses of people.")}</p>;
}

function Towns({ places, onShow }: { places: Places; onShow: (points: readonly Point[]) => void }) {
  const rows = useMemo<Row[]>(() => places.towns.flatMap((town, index) => [{ town, index }, ...town.entries]), [places]);
  const points = useMemo(() => new Map(places.points.map((point) => [keyOf(point.person.id, point.id), point])), [places]);
  const pointOf = (person: PersonRow, { id }: Place) => points.get(keyOf(person.id, id));
  const showTown = ({ entries }: Town) => onShow(entries.flatMap(({ person, place: each }) => pointOf(person, each) ?? []));
  const nameOf = ({ name }: Town) => name ?? t("Without a town");
  return (
    <section class="stack tight" aria-label={t("By town")}>
      <h2>{t("By town")}</h2>
      <p class="soft small" role="status">
        {tn("{count} place", "{count} places", rows.length - places.towns.length)} · {tn("{count} town", "{count} towns", places.towns.filter(({ name }) => name).length)}
      </p>
      {rows.length === 0 && <p class="card">{t("Nobody has an address yet.")}</p>}
      <VirtualList
        label={t("People by town")}
        items={rows}
        rowHeight={ROW_HEIGHT}
        keyOf={(row) => ("town" in row ? `town ${row.index}` : `${row.person.id} ${row.place.id}`)}
        textOf={(row) => ("town" in row ? fold(nameOf(row.town)) : row.person.sortKey)}
        onOpen={(row) => ("town" in row ? showTown(row.town) : navigate(`/people/${row.person.id}`))}
        render={(row) => {
          if ("town" in row) {
            const isPlaced = row.town.entries.some(({ person, place: each }) => pointOf(person, each));
            return (
              <span role="gridcell" class="map-town">
                <span>
                  <strong>
                    <bdi>{nameOf(row.town)}</bdi>
                  </strong>{" "}
                  <span class="soft small">{row.town.entries.length}</span>
                </span>
                {isPlaced && <ShowButton name={nameOf(row.town)} onShow={() => showTown(row.town)} />}
              </span>
            );
          }
          const point = pointOf(row.person, row.place);
          return (
            <>
              <span role="gridcell" class="map-cell">
                <a class="map-link" tabIndex={-1} href={href(`/people/${row.person.id}`)}>
                  <Avatar person={row.person} />
                  <span class="map-text">
                    <bdi>{row.person.name}</bdi>
                    <span class="soft small">{row.place.label}</span>
                  </span>
                </a>
              </span>
              {point && (
                <span role="gridcell">
                  <ShowButton name={row.person.name} onShow={() => onShow([point])} />
                </span>
              )}
            </>
          );
        }}
      />
    </section>
  );
}

function ShowButton({ name, onShow }: { name: string; onShow: () => void }) {
  return (
    <button class="plain icon" tabIndex={-1} aria-label={t("Show {name} on the map", { name })} title={t("Show {name} on the map", { name })} onClick={onShow}>
      <Icon name="location" />
    </button>
  );
}

function ChosenPlaces({ points, onClose }: { points: Point[]; onClose: () => void }) {
  return (
    <section class="card stack tight" aria-label={t("Chosen")}>
      <div class="row apart nowrap">
        <h2>{points.length > 1 ? tn("{count} place", "{count} places", points.length) : points[0]!.label}</h2>
        <button class="plain icon" aria-label={t("Close")} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <ul class="map-chosen">
        {points.map(({ id, person, label }) => (
          <li key={`${person.id} ${id}`}>
            <a class="map-link" href={href(`/people/${person.id}`)}>
              <Avatar person={person} />
              <span class="map-text">
                <bdi>{person.name}</bdi>
                {points.length > 1 && <span class="soft small">{label}</span>}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

// Addresses that the service looked up in vain. The person's form is where to correct them.
function NotFound({ places: { notFound } }: { places: Places }) {
  if (notFound.length === 0) return null;
  return (
    <details class="card" open={notFound.length <= 5}>
      <summary>{tn("{count} address was not found", "{count} addresses were not found", notFound.length)}</summary>
      <ul class="plain-lines">
        {notFound.slice(0, NOT_FOUND_SHOWN).map(({ person, place: { id, label } }) => (
          <li key={`${person.id} ${id}`} class="row apart">
            <span>
              <bdi>{person.name}</bdi>
              <span class="soft small block">{label}</span>
            </span>
            <a class="button" href={href(`/people/${person.id}?edit=contact`)} aria-label={t("Correct the address of {name}", { name: person.name })}>
              {t("Correct")}
            </a>
          </li>
        ))}
      </ul>
      {notFound.length > NOT_FOUND_SHOWN && <p class="soft small">{tn("{count} more", "{count} more", notFound.length - NOT_FOUND_SHOWN)}</p>}
    </details>
  );
}
