// For libraries that make their own requests, such as the S3 client: their connections go where ours would.
import { Agent, type AgentOptions } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { AddressJudge } from './outbound.ts';

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
