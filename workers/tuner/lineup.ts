// The channels of a source of live television.
import { globMatcher } from './glob.ts';

export interface Channel {
  number: string;
  name: string;
  url: string;
  group?: string;
  logo?: string;
  /** Id in a guide. */
  guideId?: string;
  hd: boolean;
  radio: boolean;
}

export interface Lineup {
  channels: Channel[];
  /** Concurrent streams. */
  tuners: number;
  /** Channels left out because they are encrypted. */
  encrypted: number;
  device?: { id: string; model: string; firmware: string; name: string };
}

export interface ChannelChoice {
  include: readonly string[];
  exclude: readonly string[];
  numbering: 'source' | 'sequential';
}

/** The wanted channels, by name or number, with the requested numbers. */
export function chosen(channels: readonly Channel[], { include, exclude, numbering }: ChannelChoice): Channel[] {
  const taken = matcher(include.length > 0 ? include : ['*']);
  const left = matcher(exclude);
  const wanted = channels.filter((channel) => taken(channel) && !left(channel));
  if (numbering === 'source') return wanted;
  return wanted.map((channel, index) => ({ ...channel, number: String(index + 1) }));
}

function matcher(globs: readonly string[]): (channel: Channel) => boolean {
  const tests = globs.map(globMatcher);
  return ({ name, number }) => tests.some((test) => test(name) || test(number));
}
