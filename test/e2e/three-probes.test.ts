import t from 'tap';
import { threeProbes } from './three-probes.ts';

t.test('three vantage points and one truth', { timeout: 180_000 }, (t) => threeProbes(t));
