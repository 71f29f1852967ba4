import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Area, Endpoint } from '#kernel/endpoint.ts';
import { exampleOf } from '#kernel/example.ts';
import type { Schema, Schemas } from '#kernel/json-schema.ts';
import { credentialsOf, errorsOf, permissionWord } from '#kernel/openapi.ts';
import { describedAreas } from './description.ts';

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem;color:#1a1a1a;background:#fff}
h2{margin-top:2.5rem;border-bottom:1px solid #ccc}h3{margin:1.5rem 0 .25rem;font:600 1rem ui-monospace,monospace}
code,pre{font:.85rem ui-monospace,monospace}pre{overflow:auto;background:#f4f4f4;padding:.5rem}dt{font-weight:600}dd{margin:0 0 .25rem 1rem}
nav ul{columns:3 14rem;padding-left:1rem}form{display:none}.js form{display:block}input,textarea{font:inherit;width:100%;box-sizing:border-box}
@media(prefers-color-scheme:dark){body{background:#161616;color:#e6e6e6}pre{background:#222}a{color:#8ab4f8}}`;

// The key stays in this page: it is not stored, and no cookies are used.
const SCRIPT = `document.documentElement.className='js';
document.addEventListener('submit',async e=>{e.preventDefault();const f=e.target,o=f.querySelector('output');
const key=document.getElementById('key').value;const url='/api/v1'+f.elements.path.value;
try{const r=await fetch(url,{method:f.dataset.method,credentials:'omit',headers:{...(key?{Authorization:'Bearer '+key}:{}),...(f.elements.body&&f.elements.body.value?{'Content-Type':'application/json'}:{})},body:f.elements.body&&f.elements.body.value||undefined});
o.textContent=r.status+' '+r.statusText+'\\n'+(await r.text()).slice(0,20000)}catch(x){o.textContent=String(x)}});`;

interface DocsPage {
  html: string;
  policy: string;
  etag: string;
}

let made: Promise<DocsPage> | undefined;

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * One self-contained page: plain lists without JavaScript, a form for each call with it, no requests to other hosts.
 */
export function docsPage(): Promise<DocsPage> {
  made ??= make();
  return made;
}

/** Renders one area at a time, so that other requests are served in between. */
async function make(): Promise<DocsPage> {
  const areas = await describedAreas();
  const sections: string[] = [];
  for (const area of areas) {
    sections.push(areaSection(area));
    await nextTurn();
  }
  const index = areas.map(
    (area) => `<li><a href="#area-${area.slug}">${text(area.name)}</a> (${area.endpoints.length})</li>`,
  );
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Foyer API v1</title><style>${STYLE}</style></head><body>
<h1>Foyer API v1</h1><p>Everything is below <code>/api/v1</code>. The machine-readable form is <a href="/api/v1/openapi.json">openapi.json</a>.</p>
<nav><ul>${index.join('')}</ul></nav><form><label>Key or access token for trying calls, kept in this page only <input id="key" type="password" autocomplete="off"></label></form>
${sections.join('\n')}<script>${SCRIPT}</script></body></html>`;
  return {
    html,
    policy: `default-src 'none'; style-src ${hash(STYLE)}; script-src ${hash(SCRIPT)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    etag: `"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"`,
  };
}

function areaSection(area: Area): string {
  return `<section><h2 id="area-${area.slug}">${text(area.name)}</h2>${area.endpoints.map(operation).join('')}</section>`;
}

function operation(endpoint: Endpoint): string {
  const { operationId, method, path, summary, description, params, query, body, answer } = endpoint;
  const credentials = credentialsOf(endpoint);
  const requestSchema = body && jsonSchema(body, 'input');
  const rows: [string, string][] = [
    ['Permission', text(permissionWord(endpoint.access))],
    ['Credentials', credentials.length > 0 ? credentials.join(', ') : 'none needed'],
    ...(params ? [['Path', schema(jsonSchema(params, 'input'))] as [string, string]] : []),
    ...(query ? [['Query', schema(jsonSchema(query, 'input'))] as [string, string]] : []),
    ...(requestSchema ? [['Body', schema(requestSchema)] as [string, string]] : []),
    [`Answer ${answer.status}`, answered(endpoint)],
    [
      'Errors',
      errorsOf(endpoint)
        .map((code) => `<code>${code}</code>`)
        .join(' '),
    ],
  ];
  const list = rows.map(([term, value]) => `<dt>${term}</dt><dd>${value}</dd>`).join('');
  const fields = `<label>Path <input name="path" value="${text(path.replace(/:(\w+)/g, '{$1}'))}"></label>${requestSchema ? `<label>Body <textarea name="body" rows="4">${example(requestSchema)}</textarea></label>` : ''}`;
  return `<article><h3 id="${operationId}"><a href="#${operationId}">${operationId}</a> <code>${method.toUpperCase()} ${text(path)}</code></h3><p>${text(summary)}.${description ? ` ${text(description)}` : ''}</p><dl>${list}</dl><details><summary>Try</summary><form data-method="${method.toUpperCase()}">${fields}<button>Send</button><pre><output></output></pre></form></details></article>`;
}

function jsonSchema(of: z.core.$ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(of as z.ZodType, {
    io,
    unrepresentable: 'any',
    reused: 'inline',
  });
  return rest as Schema;
}

const schema = (of: Schema): string => folded('schema', text(JSON.stringify(of, null, 1)));

function answered({ answer }: Endpoint): string {
  if (answer.kind === 'bytes') return text((answer.media ?? []).join(', '));
  if (answer.kind === 'none') return 'nothing';
  const of = jsonSchema(answer.schema, 'output');
  return folded('example', example(of)) + schema(of);
}

const folded = (what: string, inside: string): string =>
  `<details><summary>${what}</summary><pre>${inside}</pre></details>`;

function example(of: Schema): string {
  const { $defs = {} } = of as { $defs?: Schemas };
  return text(JSON.stringify(exampleOf(of, $defs), null, 1));
}

function text(raw: string): string {
  return raw.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c);
}
