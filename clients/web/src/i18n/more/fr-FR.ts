const parts = import.meta.glob<Record<string, string | string[]>>(["../../texts/fr-FR/*.json", "!../../texts/fr-FR/core.json"], { eager: true, import: "default" });
export default Object.assign({}, ...Object.values(parts)) as Record<string, string | string[]>;
