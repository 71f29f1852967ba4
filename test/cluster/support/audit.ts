import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { until } from './until.ts';

/** A request that the API server answered. The policy (hack/kube/audit-policy.yaml) has every write, and the reads of service accounts. */
export interface Request {
  at: string;
  verb: string;
  user: string;
  userAgent: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  /** HTTP status of the answer. */
  code: number;
  uri: string;
}

interface Line {
  stage: string;
  verb: string;
  requestURI: string;
  userAgent?: string;
  user?: { username?: string };
  objectRef?: { resource?: string; subresource?: string; namespace?: string; name?: string; apiGroup?: string };
  responseStatus?: { code?: number };
  stageTimestamp: string;
}

interface Caller {
  run(words: readonly string[]): Promise<string>;
}

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
let marks = 0;

export class AuditLog {
  private readonly file: string;
  private readonly kubectl: Caller;

  constructor(file: string, kubectl: Caller) {
    this.file = file;
    this.kubectl = kubectl;
  }

  /** A place in the log: all requests answered before this call lie before it. */
  async mark(): Promise<number> {
    marks += 1;
    const name = `audit-mark-${process.pid}-${marks}`;
    const from = statSync(this.file).size;
    await this.kubectl.run(['create', 'configmap', name, '-n', 'default', '--dry-run=server']); // leaves nothing but its line
    await until('the mark in the audit log', () => this.text(from).includes(name));
    return statSync(this.file).size;
  }

  /** Requests answered between a mark and now. */
  async since(mark: number): Promise<Request[]> {
    const end = await this.mark();
    return this.text(mark, end)
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line)
      .filter(({ stage, requestURI }) => stage === 'ResponseComplete' && !requestURI.includes('dryRun='))
      .map(requestOf);
  }

  /** Writes since a mark by one user, or by a field manager's user agent, whose name begins or ends so; leases are left out, as they are renewed at rest. */
  async writes(mark: number, user: RegExp): Promise<Request[]> {
    const requests = await this.since(mark);
    const counted = ({ verb, resource }: Request) => WRITES.has(verb) && resource !== 'leases';
    return requests.filter((request) => counted(request) && (user.test(request.user) || user.test(request.userAgent)));
  }

  private text(from: number, to = statSync(this.file).size): string {
    const file = openSync(this.file, 'r');
    try {
      const part = Buffer.alloc(Math.max(0, to - from));
      return part.toString('utf8', 0, readSync(file, part, 0, part.length, from));
    } finally {
      closeSync(file);
    }
  }
}

function requestOf({ objectRef = {}, ...line }: Line): Request {
  const { apiGroup: group = '', resource = '', subresource = '', namespace = '', name = '' } = objectRef;
  const about = { group, resource, subresource, namespace, name };
  const by = { user: line.user?.username ?? '', userAgent: line.userAgent ?? '' };
  const answer = { at: line.stageTimestamp, code: line.responseStatus?.code ?? 0, uri: line.requestURI };
  return { verb: line.verb, ...about, ...by, ...answer };
}
