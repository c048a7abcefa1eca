// The map: faces and clusters, on the operator's tiles or, without any, on coastlines that are part of the client.
import L from "leaflet";
import "leaflet/dist/leaflet.css";
import { useEffect, useRef, useState } from "preact/hooks";
import Supercluster from "supercluster";
import { connection } from "../../app/session.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { initials } from "../../ui/Avatar.tsx";
import { hueOf } from "../../ui/hue.ts";
import type { Point } from "./places.ts";

const MAX_ZOOM = 18;
// As near as a town needs: nearer than these there is nothing to be seen of it.
const TOWN_ZOOM = { tiles: 11, land: 5 };
const MAX_ZOOM_OF_LAND = 9; // coastlines of 1 to 110 million
const FACE_PIXELS = 2.75 * parseFloat(getComputedStyle(document.documentElement).fontSize); // as in map.css
// The names of towns stand below the markers: clusters keep them apart.
const CLUSTER_PIXELS = 72;

export interface Tiles {
  url: string;
  attribution: string | null;
}

export interface MapControl {
  show: (points: readonly Point[]) => void;
  zoom: (steps: number) => void;
}

interface Props {
  points: readonly Point[];
  tiles: Tiles | null;
  control: { current: MapControl | null };
  onChoose: (points: Point[]) => void;
  onMove: (isInView: (point: Point) => boolean) => void;
}

interface Own {
  index: number;
}

export default function PlacePicture({ points, tiles, control, onChoose, onMove }: Props) {
  const root = useRef<HTMLDivElement>(null);
  const [map, setMap] = useState<L.Map | null>(null);
  const acts = useRef({ onChoose, onMove });
  acts.current = { onChoose, onMove };
  const isFitting = useRef(false);
  const fitted = useRef<{ points: readonly Point[]; nearest: number } | null>(null); // what it still shows as a whole
  useEffect(() => {
    const made = makeMap(root.current!);
    const moved = () => {
      const bounds = made.getBounds();
      acts.current.onMove(({ at }) => bounds.contains([at[0], at[1]]));
    };
    made.on("moveend", moved);
    made.on("movestart", () => {
      if (!isFitting.current) fitted.current = null; // somebody has moved it
    });
    made.on("moveend", () => (isFitting.current = false));
    const resized = new ResizeObserver(() => {
      made.invalidateSize();
      if (fitted.current) fit(made, fitted.current.points, fitted.current.nearest, false);
    });
    resized.observe(root.current!);
    setMap(made);
    return () => {
      resized.disconnect();
      made.remove();
    };
  }, []);
  useEffect(() => {
    if (!map) return;
    const layer = tiles ? tileLayer(tiles) : coastlines();
    layer.addTo(map);
    map.setMaxZoom(tiles ? MAX_ZOOM : MAX_ZOOM_OF_LAND);
    return () => void layer.remove();
  }, [map, tiles?.url]);
  const wasFitted = useRef(false);
  useEffect(() => {
    if (!map) return;
    const nearest = tiles ? TOWN_ZOOM.tiles : TOWN_ZOOM.land;
    const show = (shown: readonly Point[], animate?: boolean) => {
      isFitting.current = true;
      fitted.current = { points: shown, nearest };
      fit(map, shown, nearest, animate);
    };
    control.current = { show, zoom: (steps) => void map.zoomIn(steps) };
    if (!wasFitted.current && points.length) {
      show(points, false);
      wasFitted.current = true;
    }
    return showMarkers(map, points, nearest, (chosen) => acts.current.onChoose(chosen));
  }, [map, points, tiles === null]);
  return <div ref={root} class={`map-picture ${tiles ? "" : "plain-map"}`} role="region" aria-label={t("Map. The arrow keys move it, + and - zoom.")} />;
}

function makeMap(root: HTMLElement): L.Map {
  const moves = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  const map = L.map(root, {
    attributionControl: false, // it is beside the map, as text
    zoomControl: false,
    zoomAnimation: moves,
    fadeAnimation: moves,
    markerZoomAnimation: moves,
    inertia: moves,
    maxZoom: MAX_ZOOM,
    minZoom: 0,
    worldCopyJump: true,
  });
  map.setView([25, 5], 1);
  return map;
}

function tileLayer({ url }: Tiles): L.Layer {
  // The policy of the page sends no Referer to others, but public servers of tiles ask which site it is: this names the origin.
  return L.tileLayer(url, { maxZoom: MAX_ZOOM, referrerPolicy: "origin" });
}

function coastlines(): L.Layer {
  const layer = L.layerGroup();
  // Drawn for a map's width around what is seen, so that it is there while the map is dragged.
  const renderer = L.svg({ padding: 1 });
  void import("./coastlines.ts").then(({ LAND }) => {
    L.geoJSON(LAND, { interactive: false, style: { className: "map-land", weight: 1, renderer } }).addTo(layer);
  });
  return layer;
}

function fit(map: L.Map, points: readonly Point[], nearest: number, animate = map.options.zoomAnimation === true): void {
  if (points.length) map.fitBounds(L.latLngBounds(points.map(({ at: [latitude, longitude] }) => [latitude, longitude])), { padding: [56, 56], maxZoom: nearest, animate });
}

// Shows the clusters of the part that is seen, again after each move. Returns what removes them.
function showMarkers(map: L.Map, points: readonly Point[], nearest: number, onChoose: (points: Point[]) => void): () => void {
  const clusters = new Supercluster<Own, object>({ radius: CLUSTER_PIXELS, extent: 256, maxZoom: MAX_ZOOM - 1 });
  clusters.load(points.map(({ at: [latitude, longitude] }, index) => ({ type: "Feature", properties: { index }, geometry: { type: "Point", coordinates: [longitude, latitude] } })));
  const layer = L.layerGroup().addTo(map);
  const draw = () => {
    const bounds = map.getBounds().pad(0.2);
    const focused = (document.activeElement as HTMLElement | null)?.dataset["place"];
    layer.clearLayers();
    const found = clusters.getClusters([Math.max(-180, bounds.getWest()), bounds.getSouth(), Math.min(180, bounds.getEast()), bounds.getNorth()], Math.round(map.getZoom()));
    for (const { properties, geometry } of found) {
      const [longitude, latitude] = geometry.coordinates as [number, number];
      const isCluster = "cluster" in properties && properties.cluster === true;
      const inside = isCluster
        ? clusters.getLeaves(properties.cluster_id, Infinity).map(({ properties: { index } }) => points[index]!)
        : [points[(properties as Own).index]!];
      const act = () => {
        if ((map.dragging as L.Handler & { moved(): boolean }).moved()) return; // the end of a drag
        onChoose(inside);
        // Those of one town are chosen together; nearer than a town the map is moved by hand.
        if (isCluster && new Set(inside.map(({ town }) => town)).size > 1 && map.getZoom() < nearest) fitInside(map, inside, nearest);
      };
      L.marker([latitude, longitude], { icon: iconOf(inside, act), interactive: false, keyboard: false }).addTo(layer);
    }
    if (focused) document.querySelector<HTMLElement>(`[data-place="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  };
  draw();
  map.on("moveend", draw);
  return () => {
    map.off("moveend", draw);
    layer.remove();
  };
}

function fitInside(map: L.Map, inside: Point[], nearest: number): void {
  const bounds = L.latLngBounds(inside.map(({ at: [latitude, longitude] }) => [latitude, longitude]));
  map.fitBounds(bounds, { padding: [64, 64], maxZoom: Math.min(nearest, map.getZoom() + 3) });
}

// The face of one, how many they are, and the name of the town.
function iconOf(inside: Point[], act: () => void): L.DivIcon {
  const [first] = inside;
  const count = new Set(inside.map(({ person }) => person)).size;
  const where = townOf(inside) ?? first!.label;
  const button = document.createElement("button");
  button.type = "button";
  button.dataset["place"] = first!.id;
  button.className = `map-face ${hueOf(first!.person.id)}`;
  button.setAttribute("aria-label", count > 1 ? `${where}: ${tn("{count} person", "{count} people", count)}` : `${first!.person.name}: ${first!.label || where}`);
  button.title = count > 1 ? where : first!.person.name;
  button.addEventListener("click", act);
  face(button, first!);
  const html = document.createElement("div");
  html.append(button);
  if (count > 1) html.append(textOf("map-count", formatNumber(count)));
  const name = townOf(inside) ?? (count > 1 ? null : first!.person.name);
  if (name) html.append(textOf("map-name", name));
  return L.divIcon({ html, className: "map-marker", iconSize: [FACE_PIXELS, FACE_PIXELS] });
}

// What the name of the button says, too.
function textOf(className: string, text: string): HTMLElement {
  const element = document.createElement("span");
  element.className = className;
  element.setAttribute("aria-hidden", "true");
  element.textContent = text;
  return element;
}

function face(button: HTMLButtonElement, { person }: Point): void {
  const url = connection.photoUrl(person);
  const letters = () => (button.textContent = initials(person.name));
  if (!url) return void letters();
  const image = document.createElement("img");
  image.alt = "";
  image.addEventListener("error", letters);
  image.src = url;
  button.append(image);
}

// The town in which most of them are.
function townOf(inside: Point[]): string | null {
  const counts = new Map<string, number>();
  for (const { town } of inside) if (town) counts.set(town, (counts.get(town) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0] ?? null;
}
