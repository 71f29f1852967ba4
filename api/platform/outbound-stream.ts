import type { IncomingMessage } from 'node:http';
import {
  follow,
  judgeFor,
  type OutboundAnswer,
  type OutboundOptions,
  OutboundRefused,
  type OutboundSetting,
  parse,
  resolveAll,
} from './outbound.ts';
import { type BatchReads, createBatchReads } from './outbound-batches.ts';
import { ranges } from './outbound-ranges.ts';

export interface OpenAnswer extends Omit<OutboundAnswer, 'body'> {
  /** The caller reads or destroys it. */
  body: IncomingMessage;
  /** The body in place of reading it as a stream. */
  batches: (rest: Parameters<BatchReads['batches']>[1]) => AsyncGenerator<Buffer>;
}

/** Sends a request by the rules of `createOutbound` and resolves with the head of its response. */
export type OutboundStream = (url: string, options?: OutboundOptions) => Promise<OpenAnswer>;

/**
 * As createOutbound, for responses without an end: `timeoutMs` is the time to the head, `signal` ends the body too, and
 * `maxBytes` does not apply.
 */
export function createOutboundStream({ deny = [], lookup = resolveAll, own }: OutboundSetting = {}): OutboundStream {
  const closed = { ranges: ranges(deny), own };
  return async (url, options = {}) => {
    const late = new AbortController();
    const timeoutMs = options.timeoutMs ?? 15_000;
    const timer = setTimeout(() => late.abort(), timeoutMs);
    const signal = options.signal ? AbortSignal.any([late.signal, options.signal]) : late.signal;
    const judge = judgeFor(closed, options);
    let reads = createBatchReads();
    const socket = (): Pick<BatchReads, 'onread'> => {
      reads = createBatchReads(); // a redirect has another connection
      return { onread: reads.onread };
    };
    try {
      const { answer, step } = await follow({ url: parse(url), options, lookup, judge, signal, socket });
      const { statusCode: status = 0, headers } = answer;
      const batches = reads.batches.bind(undefined, answer);
      return { status, headers, body: answer, batches, url: step.url.href, address: answer.socket.remoteAddress };
    } catch (error) {
      if (late.signal.aborted) throw new OutboundRefused('time', `no answer within ${timeoutMs} ms`);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}
