// The map: faces and clusters, on the operator's tiles or, without any, on coastlines that are part of the client.
import L from "leaflet";
import "leaflet/dist/leaflet.css";
import { useEffect, useRef, useState } from "preact/hooks";
import Supercluster from "supercluster";
import { connection } from "../../app/session.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { initials } from "../../ui/Avatar.tsx";
import type { Point } from "./places.ts";

const MAX_ZOOM = 18;
const TOWN_ZOOM = 12;
const FACE_PIXELS = 44;
const CLUSTER_PIXELS = 56;
// Without tiles the names of towns stand below the markers: clusters keep them apart.
const NAME_PIXELS = 110;

export interface Tiles {
  url: string;
  attribution: string | null;
}

export interface MapControl {
  show: (points: readonly Point[]) => void;
}

interface Props {
  points: readonly Point[];
  tiles: Tiles | null;
  control: { current: MapControl | null };
  onChoose: (points: Point[]) => void;
}

interface Own {
  index: number;
}

export default function PlacePicture({ points, tiles, control, onChoose }: Props) {
  const root = useRef<HTMLDivElement>(null);
  const [map, setMap] = useState<L.Map | null>(null);
  const choose = useRef(onChoose);
  choose.current = onChoose;
  useEffect(() => {
    const made = makeMap(root.current!);
    setMap(made);
    return () => void made.remove();
  }, []);
  useEffect(() => {
    if (!map) return;
    const layer = tiles ? tileLayer(tiles) : coastlines();
    layer.addTo(map);
    return () => void layer.remove();
  }, [map, tiles?.url]);
  const wasFitted = useRef(false);
  useEffect(() => {
    if (!map) return;
    control.current = { show: (shown) => fit(map, shown) };
    if (!wasFitted.current && points.length) {
      fit(map, points, false);
      wasFitted.current = true;
    }
    return showMarkers(map, points, tiles === null, (chosen) => choose.current(chosen));
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
  L.control.zoom({ position: "bottomright", zoomInTitle: t("Nearer"), zoomOutTitle: t("Farther"), zoomOutText: "−" }).addTo(map);
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

function fit(map: L.Map, points: readonly Point[], animate = map.options.zoomAnimation === true): void {
  if (points.length) map.fitBounds(L.latLngBounds(points.map(({ at: [latitude, longitude] }) => [latitude, longitude])), { padding: [48, 48], maxZoom: TOWN_ZOOM, animate });
}

// Shows the clusters of the part that is seen, again after each move. Returns what removes them.
function showMarkers(map: L.Map, points: readonly Point[], withNames: boolean, onChoose: (points: Point[]) => void): () => void {
  const clusters = new Supercluster<Own, object>({ radius: withNames ? NAME_PIXELS : CLUSTER_PIXELS, extent: 256, maxZoom: MAX_ZOOM - 1 });
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
        // Those of one house cannot be told apart by going nearer.
        if (isCluster && clusters.getClusterExpansionZoom(properties.cluster_id) < MAX_ZOOM && map.getZoom() < MAX_ZOOM) fitInside(map, inside);
        else onChoose(inside);
      };
      L.marker([latitude, longitude], { icon: iconOf(inside, withNames, act), interactive: false, keyboard: false }).addTo(layer);
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

function fitInside(map: L.Map, inside: Point[]): void {
  const bounds = L.latLngBounds(inside.map(({ at: [latitude, longitude] }) => [latitude, longitude]));
  map.fitBounds(bounds, { padding: [64, 64], maxZoom: Math.min(MAX_ZOOM, Math.max(map.getZoom() + 2, TOWN_ZOOM)) });
}

function iconOf(inside: Point[], withNames: boolean, act: () => void): L.DivIcon {
  const [first] = inside;
  const town = townOf(inside);
  const button = document.createElement("button");
  button.type = "button";
  button.dataset["place"] = first!.id;
  button.className = inside.length > 1 ? "map-cluster" : "map-face";
  const where = town ?? (inside.length > 1 ? "" : first!.label);
  button.setAttribute("aria-label", inside.length > 1 ? [tn("{count} place", "{count} places", inside.length), where].filter(Boolean).join(": ") : `${first!.person.name}: ${first!.label}`);
  button.title = inside.length > 1 ? where : first!.person.name;
  button.addEventListener("click", act);
  if (inside.length > 1) button.textContent = formatNumber(inside.length);
  else face(button, first!);
  const html = document.createElement("div");
  html.append(button);
  if (withNames && where) {
    const name = document.createElement("span");
    name.className = "map-name";
    name.setAttribute("aria-hidden", "true");
    name.textContent = inside.length > 1 ? where : first!.person.name;
    html.append(name);
  }
  return L.divIcon({ html, className: "map-marker", iconSize: [FACE_PIXELS, FACE_PIXELS] });
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
