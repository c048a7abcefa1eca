const parts = import.meta.glob<Record<string, string | string[]>>(["../../texts/ja-JP/*.json", "!../../texts/ja-JP/core.json"], { eager: true, import: "default" });
export default Object.assign({}, ...Object.values(parts)) as Record<string, string | string[]>;
