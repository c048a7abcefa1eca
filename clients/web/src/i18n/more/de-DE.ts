const parts = import.meta.glob<Record<string, string | string[]>>(["../../texts/de-DE/*.json", "!../../texts/de-DE/core.json"], { eager: true, import: "default" });
export default Object.assign({}, ...Object.values(parts)) as Record<string, string | string[]>;
