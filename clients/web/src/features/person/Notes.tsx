// Notes in a small part of Markdown, as elements: nothing that was typed becomes HTML.
import type { ComponentChildren } from "preact";
import { webUrl } from "./entries.ts";

const INLINE = /(\*\*|__)(.+?)\1|([*_])(.+?)\3|`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)|(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)])/g;

export function Notes({ text }: { text: string }) {
  const blocks = text.replaceAll("\r\n", "\n").split(/\n{2,}/);
  return <div class="notes">{blocks.map((block, index) => <Block key={index} text={block} />)}</div>;
}

function Block({ text }: { text: string }) {
  const lines = text.split("\n");
  const heading = /^#{1,6}\s+(.*)$/.exec(text);
  if (heading && lines.length === 1) return <p class="notes-heading">{inline(heading[1]!)}</p>;
  if (lines.every((line) => /^\s*[-*+]\s+/.test(line))) {
    return <ul>{lines.map((line, index) => <li key={index}>{inline(line.replace(/^\s*[-*+]\s+/, ""))}</li>)}</ul>;
  }
  if (lines.every((line) => /^\s*\d+[.)]\s+/.test(line))) {
    return <ol>{lines.map((line, index) => <li key={index}>{inline(line.replace(/^\s*\d+[.)]\s+/, ""))}</li>)}</ol>;
  }
  if (lines.every((line) => line.startsWith(">"))) return <blockquote>{inline(lines.map((line) => line.replace(/^>\s?/, "")).join("\n"))}</blockquote>;
  return <p>{inline(text)}</p>;
}

// One after the other, not each in what follows the one before: a note may have thousands. Nesting ends by itself, since
// nothing in bold is bold again.
function inline(text: string): ComponentChildren[] {
  const found: ComponentChildren[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    found.push(text.slice(end, match.index), element(match));
    end = match.index + match[0].length;
  }
  return [...found, text.slice(end)];
}

function element([whole, , bold, , italic, code, label, url, plainUrl]: RegExpExecArray): ComponentChildren {
  const target = webUrl(url ?? plainUrl ?? "");
  const link = (shown: string) => (target ? <a href={target} target="_blank" rel="noreferrer">{shown}</a> : whole);
  if (bold !== undefined) return <strong>{inline(bold)}</strong>;
  if (italic !== undefined) return <em>{inline(italic)}</em>;
  return code !== undefined ? <code>{code}</code> : link(label ?? plainUrl ?? "");
}
