// Icons as paths of a 24 by 24 box, drawn with the colour of the text. They are never the only name of a button.

const PATHS = {
  add: "M12 5v14M5 12h14",
  back: "M15 5l-7 7 7 7",
  bell: "M6 10a6 6 0 0 1 12 0c0 5 2 6 2 7H4c0-1 2-2 2-7M10 20h4",
  calendar: "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4",
  cake: "M4 20h16v-7H4zM4 16c3 2 5-2 8 0s5-2 8 0M12 13V8M12 4v1",
  camera: "M4 8h4l1.500-2.500h5L16 8h4v11H4zM12 16.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7z",
  check: "M5 13l4 4L19 7",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2",
  close: "M6 6l12 12M18 6L6 18",
  cloud: "M7 18a4 4 0 0 1 0-8 5 5 0 0 1 9.6-1A4.5 4.5 0 0 1 17 18z",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  device: "M8 3h8a1.500 1.500 0 0 1 1.500 1.500v15A1.500 1.500 0 0 1 16 21H8a1.500 1.500 0 0 1-1.500-1.500v-15A1.500 1.500 0 0 1 8 3zM11 18h2",
  down: "M6 9l6 6 6-6",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  eye: "M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  filter: "M4 5h16l-6 8v6l-4-2v-4z",
  group: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM16 11a3 3 0 1 0 0-6M2 20c0-4 2.5-6 6-6s6 2 6 6M16 14c3 0 6 2 6 6",
  gift: "M4 10h16v10H4zM3 7h18v3H3zM12 7v13M12 7c-2 0-4-1-4-3 0-1 2-2 4 3 2-5 4-4 4-3 0 2-2 3-4 3z",
  home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
  leave: "M14 5h5v14h-5M10 8l4 4-4 4M14 12H4",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  list: "M9 6h11M9 12h11M9 18h11M4.500 6h.01M4.500 12h.01M4.500 18h.01",
  location: "M12 21s7-6.5 7-12a7 7 0 0 0-14 0c0 5.500 7 12 7 12zM12 11a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
  lock: "M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3",
  log: "M5 9h12v6a4 4 0 0 1-4 4H9a4 4 0 0 1-4-4zM17 10h1a2 2 0 0 1 0 4h-1M8 3v3M11 3v3M14 3v3",
  mail: "M3 6h18v12H3zM3 7l9 7 9-7",
  menu: "M4 7h16M4 12h16M4 17h16",
  message: "M4 5h16v11H9l-5 4zM8 9h8M8 12h5",
  more: "M4.500 12a.5.5 0 1 0 1 0a.5.5 0 1 0-1 0M11.500 12a.5.5 0 1 0 1 0a.5.5 0 1 0-1 0M18.500 12a.5.5 0 1 0 1 0a.5.5 0 1 0-1 0",
  network: "M6 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM18 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM9 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 6.500l8 1M7 8l2 8M16.500 9.500L10.500 17",
  note: "M5 4h14v11l-5 5H5zM14 20v-5h5M9 9h6M9 13h2",
  next: "M9 5l7 7-7 7",
  order: "M8 5v14M4 15l4 4 4-4M16 19V5M12 9l4-4 4 4",
  people: "M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-5 3.500-7 8-7s8 2 8 7",
  phone: "M6 3h4l2 5-3 2a12 12 0 0 0 5 5l2-3 5 2v4c0 2-2 3-4 3C9 20 3 14 3 7c0-2 1-4 3-4z",
  print: "M7 8V3h10v5M7 17H4v-8h16v8h-3M7 14h10v7H7z",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5",
  select: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8 12l3 3 5-6",
  settings: "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM12 3v3M12 18v3M3 12h3M18 12h3M5.600 5.600l2.100 2.100M16.300 16.300l2.100 2.100M5.600 18.400l2.100-2.100M16.300 7.700l2.100-2.100",
  share: "M12 15V4M8 8l4-4 4 4M5 12v8h14v-8",
  star: "M12 4l2.500 5 5.500.800-4 3.900 1 5.500-5-2.600-5 2.600 1-5.500-4-3.900 5.500-.800z",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500L19 19M5 19l1.500-1.500M17.500 6.500L19 5",
  swap: "M7 4L3 8l4 4M3 8h14M17 12l4 4-4 4M21 16H7",
  table: "M4 5h16v14H4zM4 10h16M4 14.500h16M10 10v9",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  whole: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
} as const;

export type IconName = keyof typeof PATHS;

// `size` in pixels at the usual size of text, with which it grows.
export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  const rem = `${size / 16}rem`;
  return (
    <svg viewBox="0 0 24 24" width={rem} height={rem} fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
