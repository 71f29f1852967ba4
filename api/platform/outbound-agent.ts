// For libraries that send their own requests, such as the S3 client: the same address rules apply to their connections.
import { once } from 'node:events';
import { Agent, type AgentOptions } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import {
  type Address,
  checked,
  judgeFor,
  type OutboundOptions,
  type OutboundSetting,
  parse,
  pinnedTo,
  resolveAll,
} from './outbound.ts';
import { ranges } from './outbound-ranges.ts';

export interface AddressJudge {
  /** Throws `OutboundRefused` for a host that is a forbidden address. */
  refuse(host: string): void;
  /** Name lookup for a library; checks every address of a name at each connection. */
  lookup: LookupFunction;
}

/** The rules for addresses without those for names, for servers that may be internal, such as a bucket. */
export function createAddressJudge(
  { deny = [], lookup = resolveAll, own }: OutboundSetting,
  options: OutboundOptions,
): AddressJudge {
  const judge = judgeFor({ ranges: ranges(deny), own }, options);
  const found = async (name: string): Promise<readonly Address[]> => {
    const addresses = await lookup(name);
    for (const { address } of addresses) judge(address);
    return addresses;
  };
  return {
    refuse(host) {
      const bare = host.replace(/^\[|\]$/g, '');
      if (isIP(bare)) judge(bare);
    },
    lookup(name, options, done) {
      found(name).then(
        (addresses) => pinnedTo(addresses)(name, options, done),
        (error: Error) => done(error, []),
      );
    },
  };
}

export interface AgentSetting {
  tls: boolean;
  /** A server without a response for this long counts as unreachable. */
  silentMs: number;
  /** False accepts any certificate. */
  rejectUnauthorized?: boolean;
}

/** Checks every address at each connection, also one that a redirect gives instead of a name. */
export function judgedAgent(judge: AddressJudge, { tls, silentMs, rejectUnauthorized = true }: AgentSetting): Agent {
  const { lookup } = judge;
  // the agent gives its own limit to a connection that is used again
  const options = {
    lookup,
    keepAlive: true,
    maxSockets: 16,
    timeout: silentMs,
    ...(tls && { rejectUnauthorized }),
  } as AgentOptions;
  const agent = tls ? new TlsAgent(options) : new Agent(options);
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (to, done) => {
    judge.refuse(String((to as { host?: string }).host ?? ''));
    const socket = connect(to, done) as Socket;
    socket.setTimeout(silentMs, () => socket.destroy(new Error(`no response for ${silentMs} ms`)));
    return socket;
  };
  return agent;
}

/** A TCP connection to a judged address, for protocols other than HTTP. Throws `OutboundRefused` for a forbidden one. */
export function judgedSocket(judge: AddressJudge, { host, port }: { host: string; port: number }): Socket {
  judge.refuse(host);
  return connectTcp({ host, port, lookup: judge.lookup });
}

/** Connects to a host and port by the rules of `createOutbound`, within `timeoutMs`; `signal` ends only the attempt. */
export type OutboundSocket = (to: { host: string; port: number }, options?: OutboundOptions) => Promise<Socket>;

/** As createOutbound, for protocols other than HTTP that name their servers by addresses from users or files. */
export function createOutboundSocket({ deny = [], lookup = resolveAll, own }: OutboundSetting = {}): OutboundSocket {
  const closed = { ranges: ranges(deny), own };
  return async ({ host, port }, options = {}) => {
    const late = AbortSignal.timeout(options.timeoutMs ?? 15_000);
    const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
    const url = parse(`http://${host}:${port}/`);
    const addresses = await checked({ url, options, lookup, judge: judgeFor(closed, options), signal });
    const name = url.hostname.replace(/^\[|\]$/g, '');
    const socket = connectTcp({ host: name, port, lookup: pinnedTo(addresses) });
    try {
      await once(socket, 'connect', { signal });
      return socket;
    } catch (error) {
      socket.on('error', () => undefined);
      socket.destroy();
      throw error;
    }
  };
}
