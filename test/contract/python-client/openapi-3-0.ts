/*
 * The OpenAPI 3.1 document of the product in the words of OpenAPI 3.0, for the generator of Python clients, which knows no later version. Pure. Nothing
 * becomes stricter than it was: what has no word in 3.0, and what that generator makes broken code of, is left out.
 * https://spec.openapis.org/oas/v3.0.3#schema-object
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Fields = { readonly [key: string]: Json };

/** Keywords that 3.0 lacks. The types and formats beside them say the most of it. */
const unknownKeywords = new Set(['propertyNames', 'contentEncoding']);
/** Keywords that hold one schema, and those that hold several, in a row or by name. */
const ofOne = new Set(['items', 'additionalProperties', 'not']);
const ofSeveral = new Set(['properties', 'allOf', 'anyOf', 'oneOf']);

/** The whole document: each schema that has a name and whatever lies under a key `schema` is converted, and all else stays as it is. */
export function toOpenApi30(document: Fields): Fields {
  const { info = {}, components = {}, ...rest } = document;
  const { license = {}, ...about } = fieldsOf(info);
  const { schemas = {}, ...others } = fieldsOf(components);
  // Names of licenses in the words of SPDX came with 3.1.
  const { identifier: _, ...named } = fieldsOf(license);
  return {
    ...mapValues(rest, elsewhere),
    openapi: '3.0.3',
    info: { ...about, license: named },
    components: { ...mapValues(others, elsewhere), schemas: mapValues(fieldsOf(schemas), namedTo30) },
  };
}

/** What is outside of schemas. Examples are values and hold no schema. */
function elsewhere(value: Json, key = ''): Json {
  if (key === 'schema') return wholeTo30(value);
  if (key === 'example' || key === 'examples') return value;
  return mapHeld(value, elsewhere);
}

/** The schema of a body or parameter. One that may be null beside a schema with a name is that one: the generator would give it no class. */
function wholeTo30(schema: Json): Json {
  const converted = schemaTo30(schema);
  const { allOf, nullable } = fieldsOf(converted);
  return nullable === true && Array.isArray(allOf) ? (allOf[0] ?? converted) : converted;
}

/** A schema with a name. The generator makes a class of a union there, if all of its members are objects that can be told as one. */
function namedTo30(schema: Json): Json {
  const converted = membersTo30(schema);
  const members = (unionOf(converted) ?? []).map((one) => fieldsOf(one));
  const areObjects = members.every(({ type }) => type === 'object');
  return areObjects && !haveOtherWords(members) ? converted : withoutUnion(converted);
}

/** Whether a field is a list of words that differs between objects: in the class of all of them the last list alone would count. */
function haveOtherWords(objects: readonly Fields[]): boolean {
  const words = objects.flatMap(({ properties = {} }) =>
    Object.entries(fieldsOf(properties)).flatMap(([name, property]) => {
      const { enum: listed } = fieldsOf(property);
      return listed === undefined ? [] : [`${name} ${JSON.stringify(listed)}`];
    }),
  );
  const names = new Set(words.map((each) => each.split(' ', 1)[0]));
  return names.size < new Set(words).size;
}

/** A schema without a name, with all that it holds. */
export function schemaTo30(schema: Json): Json {
  return withoutUnion(membersTo30(schema));
}

function membersTo30(schema: Json): Json {
  if (!isFields(schema)) return schema;
  const converted = Object.entries(schema).flatMap(([keyword, value]): readonly (readonly [string, Json])[] => {
    if (unknownKeywords.has(keyword)) return [];
    // The generator reads a default as a value of the type, even beside `nullable`.
    if (keyword === 'default' && value === null) return [];
    if (keyword === 'const') return [['enum', [value]]];
    if (keyword === 'examples') return Array.isArray(value) ? [['example', value[0]]] : [];
    if (ofOne.has(keyword)) return [[keyword, schemaTo30(value)]];
    return [[keyword, ofSeveral.has(keyword) ? mapHeld(value, schemaTo30) : value]];
  });
  return withoutBrokenEnums(withAnything(withoutNull(withOneType(Object.fromEntries(converted)))));
}

/** Where nothing is said about a value, it may be null: in 3.0 that must be said. */
function withAnything(schema: Fields): Fields {
  const isTyped = ['type', 'allOf', 'anyOf', '$ref'].some((keyword) => Object.hasOwn(schema, keyword));
  return isTyped ? schema : { ...schema, nullable: true };
}

/** The generator writes booleans as no Python has them, and looks for the members of a list that is null. */
function withoutBrokenEnums(schema: Fields): Fields {
  if (schema['type'] === 'boolean') return withoutKey(schema, 'enum');
  if (schema['type'] !== 'array' || schema['nullable'] !== true) return schema;
  return { ...schema, items: withoutKey(fieldsOf(schema['items'] ?? {}), 'enum') };
}

/** 3.0 has one type for a schema: null becomes `nullable`, and a schema of several others has none. */
function withOneType({ type, ...rest }: Fields): Fields {
  if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest };
  const others = type.filter((one) => one !== 'null');
  const [only] = others;
  return {
    ...(others.length === 1 && only !== undefined ? { type: only } : {}),
    ...rest,
    ...(others.length < type.length ? { nullable: true } : {}),
  };
}

/** Takes null out of a union and says `nullable` instead. A union of one is that one. */
function withoutNull(schema: Fields): Fields {
  const members = unionOf(schema);
  if (members === undefined) return schema;
  const { anyOf: _, oneOf: __, ...rest } = schema;
  const others = members.filter((member) => fieldsOf(member)['type'] !== 'null');
  const nullable = others.length < members.length ? { nullable: true } : {};
  const [only] = others;
  if (others.length > 1 || !isFields(only)) return { ...rest, anyOf: others, ...nullable };
  // Nothing may stand beside a reference in 3.0.
  return { ...(Object.hasOwn(only, '$ref') ? { allOf: [only] } : only), ...rest, ...nullable };
}

/** A union of several becomes anything: the generator would name a class that it does not write. */
function withoutUnion(schema: Json): Json {
  if (!isFields(schema) || unionOf(schema) === undefined) return schema;
  const { anyOf: _, oneOf: __, ...rest } = schema;
  return { ...rest, nullable: true };
}

function unionOf(schema: Json): readonly Json[] | undefined {
  const { anyOf, oneOf } = fieldsOf(schema);
  const members = anyOf ?? oneOf;
  return Array.isArray(members) ? members : undefined;
}

function withoutKey(fields: Fields, key: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== key));
}

function mapHeld(value: Json, change: (held: Json, key?: string) => Json): Json {
  if (Array.isArray(value)) return value.map((each) => change(each));
  return isFields(value) ? mapValues(value, change) : value;
}

function mapValues(fields: Fields, change: (held: Json, key?: string) => Json): Fields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(value, key)]));
}

function fieldsOf(value: Json): Fields {
  return isFields(value) ? value : {};
}

function isFields(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
