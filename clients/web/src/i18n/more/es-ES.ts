const parts = import.meta.glob<Record<string, string | string[]>>(["../../texts/es-ES/*.json", "!../../texts/es-ES/core.json"], { eager: true, import: "default" });
export default Object.assign({}, ...Object.values(parts)) as Record<string, string | string[]>;
