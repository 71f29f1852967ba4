import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, get, type RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { promisify } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Address, createOutbound, type OutboundOptions, OutboundRefused } from '#platform/outbound.ts';
import { createAddressJudge, judgedAgent } from '#platform/outbound-agent.ts';
import { atEnd } from '#support/stores.ts';

const LOOPBACK = ['127.0.0.0/8'];
const outbound = createOutbound();

async function serve(listener: RequestListener): Promise<{ url: string; port: number; requests: () => number }> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    listener(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, port, requests: () => requests };
}

/** Why it was refused; anything else that went wrong, or an answer, fails the test. */
async function refusal(url: string, options?: OutboundOptions, way = outbound): Promise<string> {
  const answer = await way(url, options).catch((error: unknown) => error);
  if (answer instanceof OutboundRefused) return answer.reason;
  throw new Error(`${url} was not refused: ${String((answer as Error).message ?? answer)}`);
}

describe('outbound', () => {
  describe('addresses', () => {
    it('rejects every spelling of an internal address, before any connection', async () => {
      const canary = await serve((_request, response) => response.end('secret'));
      const hosts = [
        ...['127.0.0.1', '127.1', '127.0.1', '0x7f.1', '0x7f000001', '2130706433', '017700000001', '0177.0.0.01'],
        ...['127.0.0.1.', '127.255.255.254', '①②⑦.0.0.1', '127。0。0。1', '%31%32%37.0.0.1', '0', '0.0.0.0'],
        ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:1]'],
        ...['[::127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]'],
        ...['[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[fec0::1]', '[::ffff:a9fe:a9fe]'],
        ...['10.1.2.3', '100.64.0.1', '100.127.255.255', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
        ...['192.0.2.1', '198.51.100.1', '203.0.113.1', '[2001:db8::1]', '[3fff::1]', '[::ffff:203.0.113.1]'],
        ...['192.0.0.1', '192.168.1.1', '198.18.0.1', '198.19.255.255', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
      ];
      for (const host of hosts) expect(await refusal(`http://${host}:${canary.port}/`), host).to.equal('address');
      expect(canary.requests()).to.equal(0);
    });

    it('refuses the public addresses of this machine, unless they are opened', async () => {
      const lookup = async (): Promise<Address[]> => [{ address: '93.184.215.14', family: 4 }];
      const own = (): string[] => ['93.184.215.14', '2600:1f18::1'];
      const way = createOutbound({ lookup, own });
      for (const host of ['93.184.215.14', '[2600:1f18:0::1]', '[::ffff:93.184.215.14]', 'films.example'])
        expect(await refusal(`http://${host}:1/`, {}, way), host).to.equal('address');
      const aborted = new AbortController();
      aborted.abort();
      const opened = await way('http://93.184.215.14:1/', {
        allow: ['93.184.215.14/32'],
        signal: aborted.signal,
      }).catch((error: unknown) => error);
      expect(opened).not.to.be.instanceOf(OutboundRefused);
    });

    it('refuses names of the inside, also with a dot at the end, in capitals and in bold letters', async () => {
      const names = [
        'localhost',
        'LOCALHOST.',
        'a.localhost',
        'api.foyer.svc',
        'api.foyer.svc.cluster.local',
        '𝐥ocalhost',
      ];
      for (const name of names) expect(await refusal(`http://${name}/`), name).to.equal('name');
    });

    it('rejects other schemes, credentials in the address, and invalid addresses', async () => {
      for (const url of ['file:///etc/passwd', 'ftp://x.org/', 'gopher://x.org/', 'data:,x', 'unix:/run/x'])
        expect(await refusal(url), url).to.equal('scheme');
      expect(await refusal('http://example.org@127.0.0.1/')).to.equal('credentials');
      expect(await refusal('http://:secret@example.org/')).to.equal('credentials');
      for (const url of ['', '//x.org', 'http://', 'http://[::1%25lo]/', 'http://256.1.1.1/'])
        expect(await refusal(url), url).to.equal('url');
    });

    it('rejects a name when a single one of its addresses is inside, in any order', async () => {
      const outside: Address = { address: '93.184.216.34', family: 4 };
      for (const inside of ['10.0.0.1', '::ffff:10.0.0.1', '::1', 'fe80::1%eth0', 'not an address']) {
        const addresses = [outside, { address: inside, family: inside.includes(':') ? 6 : 4 }];
        for (const given of [addresses, addresses.toReversed()]) {
          const way = createOutbound({ lookup: async () => given });
          expect(await refusal('http://mixed.example/', {}, way), inside).to.equal('address');
        }
      }
      const nowhere = createOutbound({ lookup: async () => [] });
      expect(await refusal('http://nowhere.example/', {}, nowhere)).to.equal('name');
    });

    it('lets no IPv4 address of a denied network through in any IPv6 dress', async () => {
      const bytes = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255));
      const prefix = fc.constantFrom('::ffff:', '::', '64:ff9b::', '::ffff:0:', '64:ff9b:1::', '2002:', 'fe80::');
      await fc.assert(
        fc.asyncProperty(bytes, prefix, async ([b, c, d], dress) => {
          const tail = `${(0x7f00 + b).toString(16)}:${((c << 8) + d).toString(16)}`;
          const address = dress === '2002:' ? `2002:${tail}::` : dress + tail;
          expect(await refusal(`http://[${address}]:9/`), address).to.equal('address');
        }),
      );
    });

    it('reaches nothing outside of the only networks, where an integration has such', async () => {
      const server = await serve((_request, response) => response.end('hello'));
      const opened = { allow: LOOPBACK, only: LOOPBACK };
      expect(String((await outbound(server.url, opened)).body)).to.equal('hello');
      for (const only of [[], ['10.0.0.0/8'], ['::/0']])
        expect(await refusal(server.url, { ...opened, only }), only.join()).to.equal('address');
      expect(await refusal('http://93.184.216.34/', { only: LOOPBACK })).to.equal('address');
    });

    it('reaches addresses that an integration allows, and never those that the deployment denies', async () => {
      const server = await serve((_request, response) => response.end('hello'));
      const answer = await outbound(server.url, { allow: LOOPBACK });
      expect(String(answer.body)).to.equal('hello');
      expect(await refusal(server.url, { allow: ['127.0.0.2/32', '::/0', '10.0.0.0/8'] })).to.equal('address');
      const mapped = await outbound(`http://[::ffff:127.0.0.1]:${server.port}/`, { allow: LOOPBACK });
      expect(mapped.status).to.equal(200);
      const strict = createOutbound({ deny: ['127.0.0.0/8'] });
      expect(await refusal(server.url, { allow: LOOPBACK }, strict)).to.equal('address');
    });

    it('fails for an invalid range instead of leaving it out', async () => {
      expect(() => createOutbound({ deny: ['10.0.0.0/33'] })).to.throw();
      const answer = await outbound('http://127.0.0.1/', { allow: ['lan'] }).catch((error: Error) => error);
      expect(answer).to.be.instanceOf(Error);
    });
  });

  describe('rebinding', () => {
    it('resolves the name once and connects to the address that was judged', async () => {
      const good = await serve((_request, response) => response.end('good'));
      let requests = 0;
      const lookup = async (): Promise<Address[]> => {
        requests += 1;
        return [{ address: requests === 1 ? '127.0.0.1' : '127.0.0.99', family: 4 }];
      };
      const way = createOutbound({ lookup });
      const answer = await way(`http://rebound.example:${good.port}/`, { allow: ['127.0.0.1/32'] });
      expect(String(answer.body)).to.equal('good');
      expect(requests).to.equal(1);
    });

    it('judges the name again at a redirect to itself', async () => {
      const server = await serve((_request, response) => response.writeHead(302, { location: '/again' }).end());
      let requests = 0;
      const lookup = async (): Promise<Address[]> => {
        requests += 1;
        return [{ address: requests === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }];
      };
      const way = createOutbound({ lookup });
      const options = { allow: ['127.0.0.1/32'] };
      expect(await refusal(`http://rebound.example:${server.port}/`, options, way)).to.equal('address');
      expect(server.requests()).to.equal(1);
    });
  });

  describe('redirects', () => {
    it('follows as many as allowed; with none the redirect is the answer', async () => {
      const server = await serve((request, response) => {
        const left = Number(request.url?.slice(1));
        if (left === 0) response.end('there');
        else response.writeHead(302, { location: `/${left - 1}` }).end();
      });
      const answer = await outbound(`${server.url}/3`, { allow: LOOPBACK, maxRedirects: 3 });
      expect([answer.status, answer.url, String(answer.body)]).to.deep.equal([200, `${server.url}/0`, 'there']);
      expect(await refusal(`${server.url}/4`, { allow: LOOPBACK, maxRedirects: 3 })).to.equal('redirects');
      const webhook = await outbound(`${server.url}/1`, { allow: LOOPBACK, maxRedirects: 0 });
      expect([webhook.status, webhook.headers.location]).to.deep.equal([302, '/0']);
    });

    it('refuses one that leads inside or to another scheme', async () => {
      const to = async (location: string): Promise<string> => {
        const server = await serve((_request, response) => response.writeHead(307, { location }).end());
        return refusal(server.url, { allow: ['127.0.0.1/32'] });
      };
      expect(await to('http://169.254.169.254/latest/meta-data')).to.equal('address');
      expect(await to('http://0x7f.2/')).to.equal('address');
      expect(await to('http://localhost/')).to.equal('name');
      expect(await to('file:///etc/passwd')).to.equal('scheme');
      expect(await to('http://user:pass@127.0.0.1/')).to.equal('credentials');
    });

    it('takes no secret to another origin, and a POST as GET only where HTTP requires it', async () => {
      const seen: unknown[] = [];
      const last = await serve((request, response) => {
        const { authorization, cookie, 'x-own': own, 'content-type': type } = request.headers;
        request.on('data', () => undefined).on('end', () => response.end());
        seen.push([request.method, authorization, cookie, own, type]);
      });
      for (const status of [302, 307]) {
        const first = await serve((_request, response) => response.writeHead(status, { location: last.url }).end());
        const headers = { Authorization: 'Bearer x', Cookie: 'a=b', 'X-Own': 'kept', 'Content-Type': 'text/plain' };
        await outbound(first.url, { method: 'POST', body: 'text', headers, allow: LOOPBACK });
      }
      expect(seen).to.deep.equal([
        ['GET', undefined, undefined, 'kept', undefined],
        ['POST', undefined, undefined, 'kept', 'text/plain'],
      ]);
    });
  });

  describe('limits', () => {
    it('rejects a body over its size, announced or not, and cuts it where that is requested', async () => {
      const declared = await serve((_request, response) => response.end(Buffer.alloc(5000)));
      const endless = await serve((_request, response) => {
        const more = (): void => {
          while (response.write(Buffer.alloc(65_536, 'x')));
          response.once('drain', more);
        };
        more();
      });
      for (const { url } of [declared, endless])
        expect(await refusal(url, { allow: LOOPBACK, maxBytes: 4096 }), url).to.equal('size');
      const cut = await outbound(endless.url, { allow: LOOPBACK, maxBytes: 4096, cut: true });
      expect(cut.body.length).to.equal(4096);
      expect((await outbound(declared.url, { allow: LOOPBACK, maxBytes: 5000 })).body.length).to.equal(5000);
      expect((await outbound(declared.url, { allow: LOOPBACK, maxBytes: 10, method: 'HEAD' })).body.length).to.equal(0);
    });

    it('ends in time whether the name, the head or the body is slow', async () => {
      const silent = await serve(() => undefined);
      const dripping = await serve((_request, response) => {
        const timer = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(timer));
      });
      const stuck = createOutbound({ lookup: () => new Promise(() => undefined) });
      const options = { allow: LOOPBACK, timeoutMs: 150 };
      expect(await refusal(silent.url, options)).to.equal('time');
      expect(await refusal(dripping.url, options)).to.equal('time');
      expect(await refusal('http://slow.example/', options, stuck)).to.equal('time');
    });

    it('takes no connection for another protocol: that is a failure at once', async () => {
      const switching = createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () =>
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
        );
      }).listen(0, '127.0.0.1');
      await once(switching, 'listening');
      atEnd(() => void switching.close());
      const { port } = switching.address() as { port: number };
      const answer = await outbound(`http://127.0.0.1:${port}/`, { allow: LOOPBACK }).catch((error: Error) => error);
      expect(answer).to.be.instanceOf(Error).and.not.instanceOf(OutboundRefused);
    });

    it('stops for its caller, which is no refusal', async () => {
      const silent = await serve(() => undefined);
      const caller = new AbortController();
      const asking = outbound(silent.url, { allow: LOOPBACK, signal: caller.signal }).catch((error: Error) => error);
      setTimeout(() => caller.abort(), 50);
      expect(await asking)
        .to.be.instanceOf(Error)
        .and.not.instanceOf(OutboundRefused);
    });

    it('reports a broken connection as the failure it is', async () => {
      const broken = await serve((_request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('half');
        setTimeout(() => response.destroy(), 20);
      });
      const answer = await outbound(broken.url, { allow: LOOPBACK }).catch((error: Error) => error);
      expect(answer).to.be.instanceOf(Error).and.not.instanceOf(OutboundRefused);
    });
  });

  it('limits the silence of a connection that is used again', async () => {
    let requests = 0;
    const server = await serve((_request, response) => {
      requests += 1;
      if (requests === 1) response.end('first');
    });
    const judge = createAddressJudge({}, { allow: LOOPBACK, always: LOOPBACK });
    const agent = judgedAgent(judge, { tls: false, silentMs: 300 });
    const fetched = (): Promise<string> =>
      new Promise((done) => {
        get(server.url, { agent }, (response) => response.resume().on('end', () => done('answered'))).on(
          'error',
          ({ message }) => done(message),
        );
      });
    expect(await fetched()).to.equal('answered');
    expect(await fetched()).to.equal('no response for 300 ms');
    agent.destroy();
  });

  it('knows no proxy of the environment', async () => {
    const proxy = await serve((_request, response) => response.end('by proxy'));
    const program = `const { createOutbound } = await import('#platform/outbound.ts');
      await createOutbound()('http://127.0.0.1:9/', { allow: ['127.0.0.0/8'] }).catch((e) => process.stdout.write(e.code));`;
    const env = { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url, http_proxy: proxy.url };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
    expect(stdout).to.equal('ECONNREFUSED');
    expect(proxy.requests()).to.equal(0);
  });
});
