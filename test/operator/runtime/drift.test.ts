import { expect } from 'chai';
import { driftOf } from '#operator/runtime/drift.ts';
import { amountOf } from '#operator/runtime/quantity.ts';

const container = (more: object = {}) => ({ name: 'api', image: 'foyer:1', ports: [{ containerPort: 8080 }], ...more });
const pod = (containers: object[], more: object = {}) => ({ spec: { template: { spec: { containers, ...more } } } });

describe('drift', () => {
  it('is absent where the API server only filled in defaults', () => {
    const live = pod([
      { ...container(), terminationMessagePath: '/dev/x', ports: [{ containerPort: 8080, protocol: 'TCP' }] },
    ]);
    expect(driftOf(pod([container()]), live)).to.equal(undefined);
  });

  it('is absent where others own a field or an entry', () => {
    const live = {
      ...pod([{ name: 'mesh', image: 'm' }, container()]),
      metadata: { annotations: { a: '1', theirs: 'x' } },
    };
    Object.assign(live.spec, { replicas: 7 });
    expect(driftOf({ ...pod([container()]), metadata: { annotations: { a: '1' } } }, live)).to.equal(undefined);
  });

  it('names the field that was changed, emptied or removed', () => {
    const wanted = pod([container({ env: [{ name: 'A', value: '1' }] })]);
    const path = 'spec.template.spec.containers.0';
    expect(driftOf(wanted, pod([container({ env: [{ name: 'A', value: '2' }] })]))).to.equal(`${path}.env.0.value`);
    expect(driftOf(wanted, pod([container()]))).to.equal(`${path}.env`);
    expect(driftOf(wanted, pod([]))).to.equal(path);
  });

  it('takes two spellings of one amount for equal, and of other values not', () => {
    const wanted = pod([container({ resources: { limits: { cpu: '1000m', memory: '1024Mi' } } })]);
    const live = pod([container({ resources: { limits: { cpu: '1', memory: '1Gi' } } })]);
    expect(driftOf(wanted, live)).to.equal(undefined);
    expect(driftOf({ data: { a: '1000m' } }, { data: { a: '1' } })).to.equal('data.a');
    expect(driftOf({ limits: { cpu: '1' } }, { limits: { cpu: '2' } })).to.equal('limits.cpu');
  });

  it('knows the values that the API server omits, and that an empty object is a value', () => {
    expect(driftOf({ ingress: [], suspend: false, value: '' }, {})).to.equal(undefined);
    expect(driftOf({ suspend: false }, { suspend: true })).to.equal('suspend');
    expect(driftOf({ emptyDir: {} }, {})).to.equal('emptyDir');
    expect(driftOf({ emptyDir: {} }, { emptyDir: {} })).to.equal(undefined);
  });

  it('compares a list without names entry by entry', () => {
    expect(driftOf({ args: ['a', 'b'] }, { args: ['a', 'b', 'c'] })).to.equal('args');
    expect(driftOf({ args: ['a', 'b'] }, { args: ['b', 'a'] })).to.equal('args.0');
  });

  it('distinguishes ports of one number by their protocol', () => {
    const port = (protocol: string, name: string) => ({ port: 53, protocol, name });
    const live = { ports: [port('UDP', 'dns'), port('TCP', 'dns-tcp')] };
    expect(driftOf({ ports: [port('TCP', 'dns-tcp'), port('UDP', 'dns')] }, live)).to.equal(undefined);
  });

  it('reads text of Secrets as their data', () => {
    const live = { data: { key: Buffer.from('v').toString('base64') } };
    expect(driftOf({ stringData: { key: 'v' } }, live)).to.equal(undefined);
    expect(driftOf({ stringData: { key: 'w' } }, live)).to.equal('stringData.key');
  });
});

describe('quantity', () => {
  it('reads every spelling', () => {
    const same: [string | number, string | number][] = [
      ['0.5', '500m'],
      ['1Ki', 1024],
      ['1e3', '1k'],
      ['1E', '1000P'],
      ['128974848', '123Mi'],
      ['.5Gi', '512Mi'],
      ['100n', '0.1u'],
    ];
    for (const [one, other] of same) expect(amountOf(one), String(one)).to.equal(amountOf(other));
    for (const text of ['', 'abc', '1.2.3', '1KiB', 'm']) expect(amountOf(text), text).to.equal(undefined);
  });
});
