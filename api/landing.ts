import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';

/** Served at the server's address until the web app exists: first run, owner recovery, and a link to the docs. */
const PATHS = new Set(['/', '/setup', '/reset']);

const STYLE = `body{font:1rem/1.5 system-ui,sans-serif;margin:10vh auto;max-width:28rem;padding:0 1rem;color:#1a1a1a;background:#fff}
label{display:block;margin:.75rem 0}input{display:block;font:inherit;width:100%;box-sizing:border-box;padding:.5rem;margin-top:.25rem}
button{font:inherit;padding:.5rem 1.25rem}[hidden]{display:none}[role=alert]{color:#a40000}
@media(prefers-color-scheme:dark){body{background:#161616;color:#e6e6e6}a{color:#8ab4f8}input,button{background:#222;color:#e6e6e6;border:1px solid #555}[role=alert]{color:#ff9a9a}}`;

// The code and the token stay in the fragment, so they are in no request line and no log.
const SCRIPT = `const api='/api/v1',q=s=>document.querySelector(s),show=s=>q(s).hidden=false;
const secret=new URLSearchParams(location.hash.slice(1));
const call=async(method,path,body,ticket)=>{const r=await fetch(api+path,{method,credentials:'omit',headers:{'content-type':'application/json',...(ticket?{authorization:'Bearer '+ticket}:{})},body:body&&JSON.stringify(body)});
const a=await r.json();if(!r.ok)throw new Error(a.error.details.issues?a.error.details.issues.map(i=>i.path.slice(1).join('.')+': '+i.message).join('; '):a.error.message);return a};
const form=(name,send)=>q(name).addEventListener('submit',async e=>{e.preventDefault();q('[role=alert]').textContent='';const f=Object.fromEntries(new FormData(e.target));
try{await send(f);q(name).hidden=true;show('#done')}catch(x){q('[role=alert]').textContent=x.message}});
form('#setup',async f=>{const t=await call('POST','/setup/claim',{code:f.code});await call('POST','/setup/complete',{username:f.username,password:f.password},t.ticket);q('#done').textContent='You own this server now. Sign in with any client, or by the API.'});
form('#reset',async f=>{await call('PUT','/auth/password-reset',{token:secret.get('token')||'',newPassword:f.password});q('#done').textContent='The password is set. Sign in with it.'});
call('GET','/server/info').then(i=>{q('h1').textContent=i.name;if(location.pathname==='/reset')show('#reset');else if(i.setupComplete===false){q('[name=code]').value=secret.get('claim')||'';show('#setup')}else show('#about')}).catch(()=>{q('[role=alert]').textContent='The server is starting. Try again in a moment.'});`;

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const POLICY = `default-src 'none'; style-src ${hash(STYLE)}; script-src ${hash(SCRIPT)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const HTML = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Foyer</title><style>${STYLE}</style></head>
<body><main><h1>Foyer</h1><p role="alert"></p><noscript><p>This page needs JavaScript; the <a href="/api/v1/docs">API</a> does not.</p></noscript>
<p id="about" hidden>The server runs. Any HLS player plays from it through the API.</p><p id="done" hidden></p>
<form id="setup" hidden><p>This server has no owner yet.</p><label>Claim code <input name="code" required autocomplete="off"></label><label>Username <input name="username" required maxlength="64" autocomplete="username"></label><label>Password, at least 8 characters <input name="password" type="password" required minlength="8" autocomplete="new-password"></label><button>Become the owner</button></form>
<form id="reset" hidden><label>New password, at least 8 characters <input name="password" type="password" required minlength="8" autocomplete="new-password"></label><button>Set it</button></form>
<p><a href="/api/v1/docs">API docs</a></p></main><script>${SCRIPT}</script></body></html>`;

/** Serves the page at `/`, `/setup` and `/reset`; other paths are passed on. */
export const landing: Middleware = (ctx, next) => {
  if (!PATHS.has(ctx.path) || !['GET', 'HEAD'].includes(ctx.method)) return next();
  ctx.set('Content-Security-Policy', POLICY);
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'html';
  ctx.body = HTML;
};
