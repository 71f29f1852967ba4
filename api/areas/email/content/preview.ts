import { languageFor, textOf } from '#areas/notifications/public.ts';
import type { Bytes, Call } from '#kernel/endpoint.ts';
import { existing } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { EmailKind } from '../kinds.ts';
import { asData, mailLogos } from './brand.ts';
import { bodyContent, contentOf, type MailSource, type Sources } from './content.ts';
import { type Content, render } from './render.ts';
import { mailLanguage, type OwnText } from './texts.ts';

const CSP = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'";
const DEAD_ORIGIN = 'https://foyer.invalid';

interface Ask {
  kind: EmailKind;
  language?: string | undefined;
  part: 'html' | 'text' | 'json';
}

/** The mail as it would be sent; sends nothing. */
export async function preview(call: Call, { kind, language, part }: Ask): Promise<Bytes> {
  const { db, deps, now } = call;
  const row = await rowFor(call, kind, language);
  const sources: Sources = { db, keys: deps.keys, settings: deps.settings, now, next: true };
  const own = await ownContent(sources, row);
  const logos = await mailLogos(deps);
  const rendered = render(own ?? sampleOf(sources, row), logos && asData(logos));
  call.reply.header('Cache-Control', 'no-store');
  if (part === 'html') call.reply.header('Content-Security-Policy', CSP);
  if (part !== 'json')
    return { body: rendered[part], type: `text/${part === 'html' ? 'html' : 'plain'}; charset=utf-8` };
  const body = JSON.stringify({ ...rendered, sample: own === undefined });
  return { body, type: 'application/json; charset=utf-8' };
}

async function rowFor(call: Call, kind: EmailKind, language: string | undefined): Promise<MailSource> {
  const { db, deps, who } = call;
  const account = existing(await db('accounts').where({ id: who.accountId }).first('email', 'language'));
  const tag = language ?? account.language ?? deps.settings.get('server.language');
  return {
    ...{ id: newId(), kind, body: null, language: mailLanguage(tag).tag, subject: '' },
    account_id: who.accountId,
    profile_id: who.profileId,
    address: account.email ?? 'you@foyer.invalid',
    notification_ids: kind === 'notification' ? await latest(call) : [],
  };
}

async function latest({ db, who }: Call): Promise<string[]> {
  return db('notifications').where({ profile_id: who.profileId }).orderBy('created_at', 'desc').limit(1).pluck('id');
}

/** What the caller would get now, for kinds with content for the caller. */
async function ownContent(sources: Sources, row: MailSource): Promise<Content | undefined> {
  if (row.kind !== 'digest' && row.kind !== 'notification') return undefined;
  const subject = mailLanguage(row.language).digest.subject.replace('{server}', () =>
    sources.settings.get('server.name'),
  );
  return contentOf(sources, { ...row, subject });
}

const OWN: Partial<Record<EmailKind, OwnText>> = {
  invitation: 'invitation',
  'password-reset': 'password-reset',
  'password-set': 'password-set',
  'address-confirm': 'address-confirm',
  test: 'test',
};
const NOTICES = {
  'sign-in-new-device': 'sign-in-new-device',
  'methods-changed': 'methods-changed',
  alert: 'email-failing',
} as const;

/** A sample with dead links. */
function sampleOf(sources: Sources, row: MailSource): Content {
  const { settings, now } = sources;
  const server = settings.get('server.name');
  const language = mailLanguage(row.language);
  const text = OWN[row.kind];
  const values = {
    server,
    name: 'alex',
    inviter: 'Robin',
    message: '',
    until: now.toISOString(),
    address: 'alex@example.org',
  };
  const dead = (content: Content): Content => ({
    ...content,
    ...(content.button && { button: { ...content.button, url: DEAD_ORIGIN } }),
    ...(content.unsubscribe && { unsubscribe: { ...content.unsubscribe, url: DEAD_ORIGIN } }),
  });
  if (text) {
    const subject = language.own[text].subject.replace(/\{(\w+)\}/g, (_all, name: keyof typeof values) => values[name]);
    return dead(
      bodyContent(sources, { ...row, subject }, { text, values, ...(language.own[text].button && { path: '/' }) }),
    );
  }
  const base = bodyContent(sources, row, { text: 'test', values });
  const button = { label: language.open, url: DEAD_ORIGIN };
  if (row.kind === 'digest') {
    const { digest } = language;
    const subject = digest.subject.replace('{server}', () => server);
    return dead({
      ...base,
      subject,
      lines: [],
      sections: [{ heading: digest.added, items: ['Solaris', 'Stalker'] }],
      button,
    });
  }
  const kind = row.kind in NOTICES ? NOTICES[row.kind as keyof typeof NOTICES] : 'export-ready';
  const example = textOf({ kind, data: { name: 'Solaris' }, count: 1 }, languageFor(row.language));
  return dead({ ...base, subject: example.title, lines: [example.body], button });
}
