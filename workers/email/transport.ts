import { isIP } from 'node:net';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { Fault, Stage } from '#areas/email/messages/messages.store.ts';
import type { Smtp } from '#areas/email/public.ts';

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;

/** One line of the conversation, or an event; never a credential or a body. */
export interface Line {
  atMs: number;
  stage: string;
  line: string;
}

export class SmtpFault extends Error {
  readonly fault: Fault;
  /** The server refused this mail or its recipient permanently. */
  readonly final: boolean;
  constructor(fault: Fault, final: boolean) {
    super(fault.message);
    this.fault = fault;
    this.final = final;
  }
}

export interface Sending {
  smtp: Smtp;
  /** The checked address of the host. */
  address: string;
  mail: SendMailOptions;
  /** Ends the conversation. */
  signal: AbortSignal;
  transcript?: Line[];
}

/** Sends one mail in one conversation. Throws `SmtpFault`. */
export async function sendMail({ smtp, address, mail, signal, transcript }: Sending): Promise<string> {
  const { host, port, security, username, password, allowUntrusted } = smtp;
  const transport = createTransport({
    host: address,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    tls: { rejectUnauthorized: !allowUntrusted, ...(isIP(host) === 0 && { servername: host }) },
    ...(username !== null && { auth: { user: username, pass: password ?? '' } }),
    ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: SILENCE_MS },
    ...{ disableFileAccess: true, disableUrlAccess: true },
    ...(transcript && { logger: recorder(transcript, username), debug: true }),
  });
  const stop = (): void => transport.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    return (await transport.sendMail(mail)).response ?? '';
  } catch (error) {
    throw faultOf(error);
  } finally {
    signal.removeEventListener('abort', stop);
    transport.close();
  }
}

interface MailError extends Error {
  code?: string;
  originalCode?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

const CERTIFICATE = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO|ALTNAME/;

const BY_CODE: Record<string, Stage> = { EAUTH: 'auth', ENOAUTH: 'auth', ETLS: 'tls' };
const BY_COMMAND: Record<string, Stage> = { 'MAIL FROM': 'from', 'RCPT TO': 'recipient', DATA: 'data' };

function stageOf({ code = '', originalCode = '', command = '' }: MailError): Stage {
  if (CERTIFICATE.test(originalCode)) return 'tls';
  return BY_CODE[code] ?? BY_COMMAND[command] ?? 'connect';
}

const LONGEST = 300;

export function faultOf(error: unknown): SmtpFault {
  const given = error as MailError;
  const stage = stageOf(given);
  const { responseCode, response, originalCode, code } = given;
  const final = (stage === 'recipient' || stage === 'data') && (responseCode ?? 0) >= 500;
  const name = responseCode ? String(responseCode) : (originalCode ?? code);
  const message = (response ?? given.message).slice(0, LONGEST);
  return new SmtpFault({ stage, message, ...(name !== undefined && { code: name }) }, final);
}

interface Entry {
  tnx?: string;
}

const HIDDEN = '/* secret */'; // nodemailer's placeholder for a password
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Forms of the user's name in nodemailer's log of AUTH LOGIN, PLAIN and CRAM-MD5. */
const namings = (user: string): string[] => [
  base64(`\0${user}\0${HIDDEN}`),
  base64(`${user} ${HIDDEN}`),
  base64(user),
  JSON.stringify(user),
];

/** Records the conversation; nodemailer hides passwords itself, and of bodies only the length is recorded. */
function recorder(transcript: Line[], username: string | null) {
  const began = performance.now();
  const hidden = username ? namings(username) : [];
  const note = (entry: Entry, text: unknown, ...values: unknown[]): void => {
    const stage = entry.tnx ?? 'client';
    if (stage === 'message') return;
    let at = 0;
    const message = String(text).replace(/%[sd]/g, () => String(values[at++]));
    const line = hidden.reduce((left, naming) => left.replaceAll(naming, HIDDEN), message);
    transcript.push({ atMs: Math.round(performance.now() - began), stage, line: line.slice(0, LONGEST) });
  };
  const nothing = (): void => undefined;
  return { level: nothing, trace: nothing, debug: note, info: note, warn: note, error: note, fatal: note };
}
