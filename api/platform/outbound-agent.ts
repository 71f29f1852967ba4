// For libraries that make their own requests, such as the S3 client: their connections go where ours would.
import { Agent, type AgentOptions } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import {
  type Address,
  judgeFor,
  type OutboundOptions,
  type OutboundSetting,
  pinnedTo,
  resolveAll,
} from './outbound.ts';
import { ranges } from './outbound-ranges.ts';

export interface AddressJudge {
  /** Throws `OutboundRefused` for a host that is itself an address, and a closed one. */
  refuse(host: string): void;
  /** For connections of a library: every address of a name is judged at each connection anew. */
  lookup: LookupFunction;
}

/** The rules of addresses without those of names, for servers that may lie inside, such as a bucket. */
export function createAddressJudge(
  { deny = [], lookup = resolveAll, own }: OutboundSetting,
  ask: OutboundOptions,
): AddressJudge {
  const judge = judgeFor({ ranges: ranges(deny), own }, ask);
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
  /** A server that says nothing for so long is away. */
  silentMs: number;
}

/** Every address is judged at each connection; an address in place of a name is the caller's to refuse. */
export function judgedAgent({ lookup }: AddressJudge, { tls, silentMs }: AgentSetting): Agent {
  const options = { lookup, keepAlive: true, maxSockets: 16 } as AgentOptions;
  const agent = tls ? new TlsAgent(options) : new Agent(options);
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (to, done) => {
    const socket = connect(to, done) as Socket;
    socket.setTimeout(silentMs, () => socket.destroy(new Error(`it said nothing for ${silentMs} ms`)));
    return socket;
  };
  return agent;
}
