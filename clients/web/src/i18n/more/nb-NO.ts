const parts = import.meta.glob<Record<string, string | string[]>>(["../../texts/nb-NO/*.json", "!../../texts/nb-NO/core.json"], { eager: true, import: "default" });
export default Object.assign({}, ...Object.values(parts)) as Record<string, string | string[]>;
