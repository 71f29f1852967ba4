import { audit } from '#kernel/audit.ts';
import { bytes, type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { invalid, notFound } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup } from '#kernel/request.ts';
import { IdParams } from '#kernel/schemas.ts';
import { confirmAddress } from './confirm.ts';
import { preview } from './content/preview.ts';
import {
  ConfirmEmail,
  ConfirmedEmail,
  EmailMessage,
  EmailMessagesQuery,
  EmailStatus,
  emailSorts,
  PreviewQuery,
  TestEmail,
  TestEmailAnswer,
  Unsubscribed,
  UnsubscribeQuery,
} from './email.schemas.ts';
import { filtering, type ListedRow, messageFilter, selectMessages, toMessage } from './messages/messages.view.ts';
import { retryMessage } from './messages/retry.ts';
import { readStatus } from './messages/status.view.ts';
import { sendTest } from './test-mail.ts';
import { endMails } from './unsubscribe.ts';

const access = { permission: 'settings:manage' } as const;
const TESTS_A_MINUTE = 5;
const TOKENS_A_MINUTE = 10;

async function limit({ deps }: Call, key: string, most: number): Promise<void> {
  await limitAttempts({ redis: deps.redis, replicas: deps.config.replicas }, key, most);
}

export const getEmailStatus = defineEndpoint({
  operationId: 'getEmailStatus',
  method: 'get',
  path: '/email',
  summary: 'Whether mail goes out, and what waits',
  access,
  answer: json(200, EmailStatus),

  async handle(_input, call) {
    return readStatus(call);
  },
});

export const sendTestEmail = defineEndpoint({
  operationId: 'sendTestEmail',
  method: 'post',
  path: '/email/test',
  summary: 'Send a mail now, also with settings that are not saved yet',
  description: 'A failure is an answer with `ok` false. Success ends a pause of all sending.',
  access,
  body: TestEmail,
  optionalBody: true,
  answer: json(200, TestEmailAnswer),
  errors: ['CONFLICT', 'RATE_LIMITED'],
  transaction: 'manual',

  async handle({ body }, call) {
    await limit(call, `email-test:${call.who.accountId}`, TESTS_A_MINUTE);
    return sendTest(call, body);
  },
});

export const listEmailMessages = defineEndpoint({
  operationId: 'listEmailMessages',
  method: 'get',
  path: '/email/messages',
  summary: 'The log of mails: no bodies, no links, addresses masked',
  access,
  query: EmailMessagesQuery.extend({ filter: messageFilter }),
  answer: page(EmailMessage),

  async handle({ query: { cursor, limit: most, sort, filter } }, { db, deps, who, now }) {
    return pageOf<ListedRow, EmailMessage>(db, selectMessages(db).modify(filtering(filter, now)), {
      keys: deps.keys,
      terms: parseSort(sort, emailSorts, '-createdAt'),
      cursor,
      limit: most,
      scope: JSON.stringify(['listEmailMessages', filter]),
      idColumn: 'm.id',
      toItem: (row) => toMessage(row, who),
    });
  },
});

export const retryEmailMessage = defineEndpoint({
  operationId: 'retryEmailMessage',
  method: 'post',
  path: '/email/messages/:id/retry',
  summary: 'Send a failed mail again, while its body is kept (7 days)',
  access,
  params: IdParams,
  answer: json(202, EmailMessage),
  errors: ['CONFLICT'],

  async handle({ params }, call) {
    const { db, who, now } = call;
    await retryMessage(db, params.id, now);
    await audit(call, 'email.retried', { messageId: params.id });
    const [row]: ListedRow[] = await selectMessages(db).where('m.id', params.id);
    if (!row) throw notFound();
    return toMessage(row, who);
  },
});

export const previewEmail = defineEndpoint({
  operationId: 'previewEmail',
  method: 'get',
  path: '/email/preview',
  summary: 'How a kind of mail looks; sends nothing',
  access,
  query: PreviewQuery,
  answer: bytes('application/json', 'text/html', 'text/plain'),

  async handle({ query }, call) {
    return preview(call, query);
  },
});

export const confirmEmailAddress = defineEndpoint({
  operationId: 'confirmEmailAddress',
  method: 'post',
  path: '/email/confirm',
  summary: 'Prove an address with the token of its mail; signs nobody in',
  access: { anyone: true, because: 'the one-time token of the mail is the credential' },
  body: ConfirmEmail,
  answer: json(200, ConfirmedEmail),
  errors: ['NOT_FOUND', 'CONFLICT', 'RATE_LIMITED'],

  counts: (call) => limit(call, `email-confirm:${addressGroup(call.client.address)}`, TOKENS_A_MINUTE),

  async handle({ body }, call) {
    return confirmAddress(call, body.token);
  },
});

export const unsubscribeEmail = defineEndpoint({
  operationId: 'unsubscribeEmail',
  method: 'post',
  path: '/email/unsubscribe',
  summary: 'No more mails of a kind, with the token of a mail (RFC 8058)',
  description: 'The form `List-Unsubscribe=One-Click` may come with it; JSON is refused.',
  access: { anyone: true, because: 'the signed token of the mail is the credential, and it can do nothing else' },
  query: UnsubscribeQuery,
  answer: json(200, Unsubscribed),
  errors: ['NOT_FOUND'],

  async handle({ query }, { db, deps, now, headers }) {
    if (/json/i.test(headers['content-type'] ?? ''))
      throw invalid(['headers', 'content-type'], 'not_a_form', 'the body is a form or nothing');
    return endMails(db, { keys: deps.keys, now, token: query.token, kind: query.kind });
  },
});
