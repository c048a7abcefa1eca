// Where people are: a map with faces, the towns beside it, and what was not found.
import { useMemo, useRef, useState } from "preact/hooks";
import { href, place } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { useInstance } from "../../store/instance.ts";
import { Empty } from "../../ui/Empty.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { Page } from "../../ui/Page.tsx";
import PlacePicture, { type MapControl, type Tiles } from "./PlacePicture.tsx";
import { type Places, placesOf, type Point, type Town } from "./places.ts";
import { useServedPlaces } from "./served.ts";
import { ChosenTown, clockThere, nameOf, Towns, Unknown } from "./TownList.tsx";
import { GroupChips } from "../groups/GroupChips.tsx";
import "../../styles/bleed.css";
import "./map.css";

// What was chosen: a town of the list, or what stands at one place of the map.
interface Chosen {
  name: string;
  zone: string | null;
  points: readonly Point[];
  people: Town["people"];
}

const nowhere = () => false;

export default function MapPage() {
  const account = useAccount();
  const { query } = place.value;
  const group = query.get("group");
  const people = account.people.value;
  const { served, isReading, isAnswered } = useServedPlaces();
  const places = useMemo(() => placesOf(people, group, served, isAnswered), [people, account.peopleVersion.value, group, served, isAnswered]);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [words, setWords] = useState("");
  const [isInView, setInView] = useState<(point: Point) => boolean>(() => nowhere);
  const control = useRef<MapControl | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const instance = useInstance();
  const tiles = useMemo<Tiles | null>(() => (instance?.mapTilesUrl ? { url: instance.mapTilesUrl, attribution: instance.mapTilesAttribution } : null), [instance]);
  const inTowns = places.towns.filter(({ name, points }) => name && points.length > 0);
  const count = new Set(places.points.map(({ person }) => person)).size;
  const chooseTown = (town: Town) => {
    setChosen({ name: nameOf(town), zone: town.zone, points: town.points, people: town.people });
    if (town.points.length) control.current?.show(town.points);
  };
  const choosePoints = (points: Point[]) => {
    const town = places.towns.find((each) => each.points.includes(points[0]!));
    setChosen({ name: town?.name ?? points[0]!.label, zone: town?.zone ?? null, points, people: [...new Set(points.map(({ person }) => person))] });
  };
  useKeys([{ key: "/", label: t("Find on the map"), act: () => field.current?.focus() }]);
  return (
    <Page title={t("Map")} width="bleed" actions={<span class="soft small" role="status">{[tn("{count} person", "{count} people", count), (isAnswered || inTowns.length > 0) && tn("{count} town", "{count} towns", inTowns.length)].filter(Boolean).join(" · ")}</span>}>
      <GroupChips />
      <div class="bleed-body">
        <div class="bleed-picture">
          {instance !== undefined && <PlacePicture points={places.points} tiles={tiles} control={control} onChoose={choosePoints} onMove={(test) => setInView(() => test)} />}
          {chosen && <Peek chosen={chosen} />}
          <div class="bleed-zoom no-print">
            <button class="icon" aria-label={t("Nearer")} title={t("Nearer")} onClick={() => control.current?.zoom(1)}>
              <Icon name="add" />
            </button>
            <button class="icon" aria-label={t("Farther")} title={t("Farther")} onClick={() => control.current?.zoom(-1)}>
              −
            </button>
            <button class="icon" aria-label={t("Show all of it")} title={t("Show all of it")} onClick={() => control.current?.show(places.points)}>
              <Icon name="whole" />
            </button>
            <button class="icon bleed-list" aria-label={t("Show the list")} title={t("Show the list")} onClick={() => document.querySelector(".bleed-side")?.scrollIntoView()}>
              <Icon name="menu" />
            </button>
          </div>
        </div>
        <aside class="bleed-side pane" aria-label={t("By town")}>
          <Looking places={places} isReading={isReading} canLookUp={instance?.geocoding ?? false} />
          <label class="search-field">
            <Icon name="search" size={18} />
            <input ref={field} type="search" aria-label={t("Town or person")} placeholder={t("Town or person")} value={words} autocomplete="off" onInput={({ currentTarget }) => setWords(currentTarget.value)} />
          </label>
          {chosen && <ChosenTown {...chosen} labels={new Map(chosen.points.map(({ person, label }) => [person.id, label]))} onClose={() => setChosen(null)} />}
          <Unknown places={places} />
          <Towns places={places} words={words} isInView={isInView} onTown={chooseTown} />
          <p class="soft small">
            {tiles ? tiles.attribution : t("Coastlines: Natural Earth.")}
            {places.hasTowns && <> {t("Towns: GeoNames (CC BY 4.0).")}</>}
          </p>
        </aside>
      </div>
    </Page>
  );
}

// Over the map, where there is no room for the list beside it.
function Peek({ chosen: { name, zone, people } }: { chosen: Chosen }) {
  const account = useAccount();
  const [first] = people;
  return (
    <div class="bleed-peek">
      <span class="grow map-text">
        <bdi class="cut map-peek-name">{name}</bdi>
        <span class="soft small cut">{[tn("{count} person", "{count} people", people.length), clockThere(zone, account.settings.value.timezone), first?.name].filter(Boolean).join(" · ")}</span>
      </span>
      {people.length === 1 ? (
        <a class="button tint" href={href(`/people/${first!.id}`)} aria-label={t("Open {name}", { name: first!.name })}>
          {t("Open")}
        </a>
      ) : (
        <button class="button tint" onClick={() => document.querySelector(".bleed-side")?.scrollIntoView()}>
          {t("Who")}
        </button>
      )}
    </div>
  );
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
  return (
    <Empty kind="place" title={t("No towns on the map")}>
      <p>{t("Whoever has an address in a known town stands here.")}</p>
    </Empty>
  );
}
