import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { atEnd, eventually, temporaryFolder } from './stores.ts';

export interface Got extends Email {
  raw: string;
  to1: string;
  /** The connection was under TLS. */
  secure: boolean;
  user: string | undefined;
}

type Refuse = (address: string) => { code: number; message: string } | 'cut' | undefined;

const refusal = ({ code, message }: { code: number; message: string }): Error =>
  Object.assign(new Error(message), { responseCode: code });

/** A certificate of its own authority, for 127.0.0.1 and smtp.test. */
export function certificate(): { key: string; cert: string } {
  const folder = temporaryFolder('smtp');
  const file = (name: string): string => join(folder, name);
  const alternative = ['-addext', 'subjectAltName=DNS:smtp.test,IP:127.0.0.1'];
  const subject = ['-days', '2', '-subj', '/CN=smtp.test', ...alternative];
  const out = ['-keyout', file('key'), '-out', file('cert')];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...out, ...subject], { stdio: 'ignore' });
  return { key: readFileSync(file('key'), 'utf8'), cert: readFileSync(file('cert'), 'utf8') };
}

/** A real SMTP server on a socket; it accepts all mail that it is not configured to refuse. */
export class PostOffice {
  readonly got: Got[] = [];
  port = 0;
  from: Refuse = () => undefined;
  recipient: Refuse = () => undefined;
  data: Refuse = () => undefined;
  /** Called with a complete body, before the answer; its result is awaited. */
  arrived: (got: Got) => Promise<void> = async () => undefined;
  password = 'right';
  connections = 0;

  static async start(options: SMTPServerOptions = {}): Promise<PostOffice> {
    const office = new PostOffice();
    const sockets = new Set<Socket>();
    const judge = (refused: ReturnType<Refuse>, done: (error?: Error) => void): void => {
      if (refused === 'cut') [...sockets].at(-1)?.destroy();
      else done(refused && refusal(refused));
    };
    const server: SMTPServer = new SMTPServer({
      authOptional: true,
      disableReverseLookup: true,
      disabledCommands: ['STARTTLS'],
      ...options,
      onConnect: (_session, done) => {
        office.connections += 1;
        done();
      },
      onAuth: (auth, _session, done) => {
        if (auth.password === office.password) done(null, { user: auth.username });
        else done(refusal({ code: 535, message: 'wrong credentials' }));
      },
      onMailFrom: (address, _session, done) => judge(office.from(address.address), done),
      onRcptTo: (address, _session, done) => judge(office.recipient(address.address), done),
      onData: (stream, session, done) => {
        void (async () => {
          const bytes = await buffer(stream);
          const to1 = session.envelope.rcptTo[0]?.address ?? '';
          const refused = office.data(to1);
          if (refused === 'cut') return [...sockets].at(-1)?.destroy();
          if (refused) return done(refusal(refused));
          const mail = await PostalMime.parse(bytes);
          const got: Got = { ...mail, raw: bytes.toString(), to1, secure: session.secure, user: session.user };
          office.got.push(got);
          await office.arrived(got);
          return done();
        })();
      },
    });
    server.on('error', () => undefined);
    server.server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    office.port = (server.server.address() as { port: number }).port;
    atEnd(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return office;
  }

  /** The newest mail to the address. */
  mailTo(address: string): Promise<Got> {
    return eventually(async () => this.got.findLast(({ to1 }) => to1 === address) ?? false, 20_000);
  }

  /** How many came to the address. */
  countTo(address: string): number {
    return this.got.filter(({ to1 }) => to1 === address).length;
  }
}

/** The link of a mail, as its person would open it. */
export function linkOf({ text = '' }: Got): URL {
  const [link] = /https:\/\/\S+/.exec(text) ?? [];
  if (!link) throw new Error(`no link in ${text}`);
  return new URL(link);
}

export const tokenOf = (mail: Got): string => /#(?:token|code)=(\S+)/.exec(linkOf(mail).hash)?.[1] ?? '';
