import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import type { Config } from '../config.ts';
import type { Db } from '../db.ts';
import { type Keys, ringOf } from '../keys.ts';
import type { Log } from '../log.ts';
import type { Outbound } from '../outbound.ts';
import type { Redis } from '../redis.ts';
import type { Settings } from '../settings.ts';
import type { Agent, CatalogueRequest, KeyValues, Query } from './agent.ts';
import { type KeptAnswer, keepAnswer, keptAnswer, requestHash } from './answers.store.ts';
import { CatalogueFault, type FaultReason } from './fault.ts';
import { keysInForce, noteRefusal } from './keys.store.ts';
import { noteAnswered, pauseAgent, takeSlot } from './pace.ts';
import { baseOf, catalogueOutbound, networksOf, sendTo } from './send.ts';
import { dropToken, keepToken, knownToken } from './tokens.ts';
import { type Answer, answerOf, textOf } from './verdict.ts';

const MOST_MS = 15_000;
/** A shorter time is the caller's, so running out of it is no failure of the catalogue. */
const FAIR_MS = 3000;
const LOCK_MS = 30_000;
const LOOK_MS = 100;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;
const REFUSED_MS = 30 * 60_000;

const circuitOf = ({ id, circuit }: Agent): string => circuit ?? id;

export interface CatalogueDeps {
  config: Config;
  db: Db;
  redis: Redis;
  settings: Settings;
  log: Log;
}

export interface Patience {
  signal: AbortSignal;
  /** In all, with the wait for the agent's turn. */
  limitMs: number;
  /** Past the cache. */
  fresh?: boolean;
}

interface Inquiry extends Patience {
  agent: Agent;
  request: CatalogueRequest;
  base: string;
  hash: string;
  ring: Keys;
  keys: KeyValues;
  /** The catalogue refused these keys before. */
  refused: boolean;
  until: number;
}

/** The parsed answer of a catalogue; undefined for what it does not have. */
type Value = unknown;

/** An answer, and whether the agent failed shortly before. */
type Settling = Answer & { hasFailed: boolean };

/** The value of a kept answer. */
const readKept = ({ request }: Inquiry, { body }: KeptAnswer): Value =>
  body === null ? undefined : request.schema.parse(JSON.parse(body));

/**
 * The only way to query catalogues: keeps each agent's rate over all processes, keeps answers for a day, and leaves an
 * agent alone for a while that failed.
 */
export class Catalogues {
  readonly #deps: CatalogueDeps;
  readonly #outbound: Outbound;

  /** `outbound` is for tests. */
  constructor(deps: CatalogueDeps, outbound?: Outbound) {
    this.#deps = deps;
    this.#outbound = outbound ?? catalogueOutbound(deps.config);
  }

  /** Fetches what agents and providers name, by the same guarded client and within the same networks. */
  readonly outbound: Outbound = (url, options) =>
    this.#outbound(url, { ...networksOf(this.#deps.settings), ...options });

  /** The same with other settings in force, to test them before they are saved. */
  under(settings: Settings): Catalogues {
    return new Catalogues({ ...this.#deps, settings }, this.#outbound);
  }

  /** Queries of one agent with one patience, which they share. */
  queryOf(agent: Agent, patience: Patience): Query {
    const until = Date.now() + patience.limitMs;
    return async (request) => this.#request(agent, request, { ...patience, until });
  }

  /** The reason for which the agent cannot be queried at all by settings and keys. */
  async closedFor(agent: Agent): Promise<'disabled' | 'missing-key' | undefined> {
    return (await this.#accessTo(agent)).closed;
  }

  /** The keys in force of an agent, and the reason for which it cannot be queried. */
  async #accessTo({ id }: Agent) {
    const { settings, config, db } = this.#deps;
    const ring = await ringOf(config.keysFile);
    const { values: keys, missing, refused } = await keysInForce({ db, config, ring }, id);
    const isOwnMirror = settings.get('metadata.baseUrls')[id] !== undefined;
    const isOffline = settings.get('network.offline') && !isOwnMirror;
    const lacking = missing.length > 0 ? ('missing-key' as const) : undefined;
    return { ring, keys, refused, closed: isOffline ? ('disabled' as const) : lacking };
  }

  async #request<S extends z.ZodType>(
    agent: Agent,
    request: CatalogueRequest<S>,
    patience: Patience & { until: number },
  ): Promise<z.output<S> | undefined> {
    const { closed, ...access } = await this.#accessTo(agent);
    if (closed) throw new CatalogueFault(agent.id, closed);
    const base = baseOf(this.#deps.settings, agent);
    const hash = requestHash(agent.id, base, request);
    return (await this.#answer({ ...patience, ...access, agent, request, base, hash })) as z.output<S> | undefined;
  }

  /** From the cache, else from the catalogue, once over all processes. */
  async #answer(inquiry: Inquiry): Promise<Value> {
    const kept = await this.#kept(inquiry);
    if (kept?.fresh) return readKept(inquiry, kept);
    const { redis } = this.#deps;
    const lock = `agent:lock:${inquiry.hash}`;
    const mine = randomUUID();
    for (;;) {
      const got = await redis.set(lock, mine, 'PX', LOCK_MS, 'NX').catch(() => 'OK');
      if (got) break;
      if (Date.now() > inquiry.until) throw new CatalogueFault(inquiry.agent.id, 'timeout');
      await sleep(LOOK_MS, undefined, { signal: inquiry.signal });
    }
    try {
      const now = await this.#kept(inquiry);
      if (now?.fresh) return readKept(inquiry, now);
      return await this.#load(inquiry, now);
    } finally {
      await redis.eval(RELEASE, 1, lock, mine).catch(() => 0);
    }
  }

  async #kept({ fresh, hash }: Inquiry): Promise<KeptAnswer | undefined> {
    return fresh ? undefined : keptAnswer(this.#deps.db, hash);
  }

  async #load(inquiry: Inquiry, kept: KeptAnswer | undefined): Promise<Value> {
    for (let tries = 0; ; tries += 1) {
      const hasFailed = await this.#turn(inquiry);
      const answer = await this.#send(inquiry, kept);
      if (answer.verdict === 'token' && tries === 0) continue;
      const left = inquiry.until - Date.now();
      if (answer.verdict === 'rate-limited' && tries < 2 && (answer.waitMs ?? Infinity) < left) {
        await this.#pause(inquiry, 'rate-limited', answer.waitMs);
        continue; // its turn comes after the pause
      }
      return this.#settle(inquiry, { ...answer, hasFailed }, kept);
    }
  }

  /** Waits for the agent's turn; throws when that is later than the caller waits. Returns whether the agent failed lately. */
  async #turn({ agent, until, signal }: Inquiry): Promise<boolean> {
    for (;;) {
      const left = until - Date.now();
      const { waitMs, closed, hasFailed } = await takeSlot(
        this.#deps.redis,
        { id: circuitOf(agent), rate: agent.rate },
        left,
      );
      if (closed && (closed !== 'rate-limited' || waitMs > left)) throw new CatalogueFault(agent.id, closed, waitMs);
      if (waitMs > 0) await sleep(waitMs, undefined, { signal });
      if (!closed) return hasFailed === true;
    }
  }

  async #send(inquiry: Inquiry, kept: KeptAnswer | undefined): Promise<Answer> {
    const { agent, request } = inquiry;
    const timeoutMs = Math.max(1, Math.min(MOST_MS, inquiry.until - Date.now()));
    try {
      const token = agent.token && (await this.#token(inquiry));
      const credentials = agent.credentials?.(inquiry.keys, token) ?? {};
      const sending = { ...inquiry, credentials, etag: kept?.etag, timeoutMs };
      const answer = answerOf(agent, request, await sendTo({ outbound: this.#outbound, ...this.#deps }, sending));
      if (answer.verdict !== 'refused' || token === undefined) return answer;
      await dropToken(this.#tokenPlace(inquiry));
      return { ...answer, verdict: 'token' };
    } catch (error) {
      await this.#noteThrown(inquiry, error, timeoutMs);
      throw error;
    }
  }

  /** A caller that gave the catalogue little time learns nothing about it. */
  async #noteThrown(inquiry: Inquiry, error: unknown, timeoutMs: number): Promise<void> {
    if (!(error instanceof CatalogueFault) || (error.reason === 'timeout' && timeoutMs < FAIR_MS)) return;
    await this.#noteFault(inquiry, error.reason, error.waitMs);
  }

  /** What an answer means for the cache, the key and later requests. */
  async #settle(inquiry: Inquiry, answer: Settling, kept: KeptAnswer | undefined): Promise<Value> {
    const { agent, hash } = inquiry;
    if (answer.verdict === 'ok' || answer.verdict === 'none') return this.#keep(inquiry, answer);
    if (answer.verdict !== 'same') throw await this.#faultOf(inquiry, answer);
    await keepAnswer(this.#deps.db, { request: hash, agent: agent.id }, undefined);
    return kept && readKept(inquiry, kept);
  }

  /** The fault that an answer is, with the pause that follows it. */
  async #faultOf(inquiry: Inquiry, { verdict, waitMs }: Answer): Promise<CatalogueFault> {
    const { agent, request } = inquiry;
    if (verdict === 'refused' || verdict === 'token') {
      await this.#noteKey(inquiry, true);
      return new CatalogueFault(agent.id, 'refused', await this.#pause(inquiry, 'refused', REFUSED_MS));
    }
    if (verdict === 'rate-limited')
      return new CatalogueFault(agent.id, 'rate-limited', await this.#pause(inquiry, 'rate-limited', waitMs));
    const reason = verdict === 'failed' ? 'unreachable' : 'invalid-answer';
    // One record of another shape says nothing about the others.
    if (verdict === 'invalid')
      this.#deps.log.warn({ agent: agent.id, path: request.path }, 'a catalogue answered in another shape');
    else await this.#noteFault(inquiry, reason);
    return new CatalogueFault(agent.id, reason);
  }

  async #keep(inquiry: Inquiry, { verdict, text, etag, value, hasFailed }: Settling): Promise<Value> {
    const { agent, hash } = inquiry;
    const body = verdict === 'ok' ? text : null;
    const answer = { status: body === null ? 404 : 200, body, etag };
    await keepAnswer(this.#deps.db, { request: hash, agent: agent.id }, answer);
    if (hasFailed) await noteAnswered(this.#deps.redis, circuitOf(agent));
    if (agent.credentials && inquiry.refused) await this.#noteKey(inquiry, false);
    return verdict === 'ok' ? value : undefined;
  }

  async #noteFault(inquiry: Inquiry, reason: FaultReason, forMs?: number): Promise<void> {
    const pausedMs = await this.#pause(inquiry, reason, forMs);
    const { agent, request } = inquiry;
    this.#deps.log.warn({ agent: agent.id, path: request.path, reason, pausedMs }, 'a catalogue failed');
  }

  async #pause({ agent }: Inquiry, reason: FaultReason, forMs?: number): Promise<number> {
    return pauseAgent(this.#deps.redis, circuitOf(agent), { reason, forMs });
  }

  async #noteKey({ keys, ring }: Inquiry, refused: boolean): Promise<void> {
    await noteRefusal({ ...this.#deps, ring }, keys, refused);
  }

  #tokenPlace({ agent, keys, ring }: Inquiry) {
    return { redis: this.#deps.redis, ring, agent: agent.id, keys };
  }

  /** The token of the agent's keys, requested when none is known. */
  async #token(inquiry: Inquiry): Promise<string> {
    const { agent, keys, signal } = inquiry;
    const place = this.#tokenPlace(inquiry);
    const known = await knownToken(place);
    if (known !== undefined) return known;
    const rule = agent.token;
    if (!rule) throw new Error(`${agent.id} has no tokens`);
    const isMirror = this.#deps.settings.get('metadata.baseUrls')[agent.id] !== undefined;
    const base = isMirror ? inquiry.base : (rule.address ?? inquiry.base);
    const request = { path: rule.path, method: 'POST', schema: agent.ping.schema, ...rule.request(keys) } as const;
    const timeoutMs = Math.max(1, Math.min(MOST_MS, inquiry.until - Date.now()));
    const sent = await sendTo(
      { outbound: this.#outbound, ...this.#deps },
      { agent, base, request, credentials: {}, timeoutMs, signal },
    );
    if ([400, 401, 403].includes(sent.status)) {
      await this.#noteKey(inquiry, true);
      throw new CatalogueFault(agent.id, 'refused', REFUSED_MS);
    }
    const read = sent.status === 200 ? rule.read(textOf(sent).json) : undefined;
    if (!read) throw new CatalogueFault(agent.id, sent.status === 200 ? 'invalid-answer' : 'unreachable');
    await keepToken(place, read.token, read.lastsSec);
    return read.token;
  }
}
