"""The inertia matrix in few operations: composite bodies in clusters of parallel axes.

Bodies on neighbouring parallel axes (n) form a cluster; θ_k is the angle of member k against the base of the cluster, a sum of
joint angles. All of a cluster is resolved in the axes of its base: with the first moment d_k and the inertia I_k of
member k and of what it carries outside of the cluster, and the ways p_m from pole to pole,

    D_i = Σ R(θ_k) d_k,    J_i = Σ R(θ_k) I_k R(θ_k)ᵀ + terms of p_m and D_m        over member i and the members above it,
    U_jm = p_m · D_j,      H_j,b = H_jm + U_jm,      H_ii = n·I_i n + Σ (H_mi + U_mm)      (b the base of m; m carried by i)

(formulas (7), (8), (11) of the source of ``poles``, where H_mm + 2 U_mm is H_mi + U_mm, so that nothing is doubled). Below its
cluster a body j acts by the force f = n × D_j and the moment N = J_j n, of which the next axes take components. Masses
are zero where base parameters were grouped, except on prismatic joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import symengine as se

from svyaz.expr import ZERO, Expression, add_up
from svyaz.forms.tree.recursions.algebra import Vector, applied, cross, offset_inertia, plus, tensor_turned
from svyaz.forms.tree.recursions.regroup import UNITS, RegroupedLink
from svyaz.forms.tree.short_formulas.sheet import LETTERS, PLACES, Carried, FormulaSheet, across, named, pair
from svyaz.model import GROUND


@dataclass(frozen=True)
class FormulaStyle:
    """How formulas are written: ``phases`` folds a cos + b sin of constants a, b into one cosine of a shifted angle."""

    phases: bool


def short_inertia(links: Sequence[RegroupedLink], sheet: FormulaSheet, style: FormulaStyle) -> list[list[Expression]]:
    """H (n × n) with its intermediates on the sheet."""
    return _Recursion(links, sheet, style).matrix()


class _Recursion:
    def __init__(self, links: Sequence[RegroupedLink], sheet: FormulaSheet, style: FormulaStyle) -> None:
        self.links, self.sheet, self.style = links, sheet, style
        self.children = [[m.number for m in links if m.base == link.number] for link in links]
        self.inside = [self._continues(link) for link in links]
        self.angles: list[Expression] = []
        for link in links:
            own = link.angle if link.kind.turns else ZERO
            if own != ZERO and link.offset != 0:
                own = sheet.name(f"a{link.number + 1}", own)
            self.angles.append(own + self.angles[link.base] if self.inside[link.number] else own)
        self.own = [Carried(link.mass, link.moment, link.inertia) for link in links]
        """Each body with what it carries outside of its cluster, in its own axes."""
        self.whole: list[Carried] = list(self.own)
        """Each body with all that it carries, in the axes of the base of its cluster."""
        self.h: dict[tuple[int, int], Expression] = {}

    def _continues(self, link: RegroupedLink) -> bool:
        """Is it in the cluster of its base?"""
        if link.base == GROUND or not link.kind.turns:
            return False
        base = self.links[link.base]
        return base.kind.turns and base.axis == link.axis and link.turn == UNITS

    def matrix(self) -> list[list[Expression]]:
        """All entries; until here every axis was taken in the positive direction of its coordinate axis."""
        for k in range(len(self.links) - 1, -1, -1):
            self._gather(k)
            self._rows(k)
        size = len(self.links)
        full = [[ZERO] * size for _ in range(size)]
        for (j, i), value in self.h.items():
            full[j][i] = full[i][j] = self.links[j].sign * self.links[i].sign * value
        return full

    # composite bodies

    def _gather(self, k: int) -> None:
        """Complete body k with what it carries; resolve it in the axes of the base of its cluster."""
        total = self.own[k]
        for m in self.children[k]:
            if not self.inside[m]:
                total = self._added(k, total, self._at_base(m))
        self.own[k] = total
        turned = self._turned(k, total)
        for m in self.children[k]:
            if self.inside[m]:
                turned = self._added(k, turned, self._shifted(self.whole[m], self._way(m), k, self.links[m].axis))
        self.whole[k] = turned

    def _added(self, k: int, a: Carried, b: Carried) -> Carried:
        name = self.sheet.name
        moment = tuple(name(f"d{k + 1}{LETTERS[i]}", a.moment[i] + b.moment[i]) for i in range(3))
        inertia = tuple(name(f"I{k + 1}{pair(i)}", a.inertia[i] + b.inertia[i]) for i in range(6))
        return Carried(a.mass + b.mass, moment, inertia)

    def _at_base(self, m: int) -> Carried:
        """The root m of a cluster, or a prismatic body, seen by its base: its pole, its axes."""
        link = self.links[m]
        whole = self.whole[m]
        if link.turn != UNITS:
            moment = applied(link.turn, whole.moment)
            inertia = tensor_turned(link.turn, whole.inertia)
            name = self.sheet.name
            whole = Carried(
                whole.mass,
                tuple(name(f"e{m + 1}{LETTERS[i]}", e) for i, e in enumerate(moment)),
                tuple(name(f"J{m + 1}{pair(i)}", e) for i, e in enumerate(inertia)),
            )
        turns = link.kind.turns and link.turn == UNITS
        return self._shifted(whole, self._offset(m), link.base, link.axis if turns else None)

    def _offset(self, m: int) -> Vector:
        """From the base's pole to that of m, in base axes."""
        link = self.links[m]
        if link.kind.slides:
            slide = link.sign * se.Symbol(link.coordinate)
            column = tuple(row[link.axis] * slide for row in link.turn)
            return plus(link.pole, column)
        return link.pole

    def _shifted(self, body: Carried, p: Vector, k: int, n: int | None) -> Carried:
        """A body about the pole of k, from which p leads to its own pole; n is the axis it turns about, if it does.

        The row n of the inertia is written as moment + lever first, as it is needed by itself: see ``_levered``.
        """
        if all(entry == 0 for entry in p):
            return body
        name, d = self.sheet.name, body.moment
        if body.mass != 0:
            # m (p² 1 - p pᵀ) + 2 (p·d) 1 - p dᵀ - d pᵀ is the gain of the first moment d + m p/2
            d = tuple(name(f"h{k + 1}{LETTERS[i]}", d[i] + body.mass * p[i] / 2) for i in range(3))
            n = None
        gained = offset_inertia(p, d)
        entries = list(body.inertia)
        for (i, j), place in PLACES.items():
            hint = f"I{k + 1}{pair(place)}"
            if n is None or n not in (i, j):
                entries[place] = name(hint, entries[place] + gained[place])
            elif i == j:
                pull = name(f"u{k + 1}{LETTERS[n]}", across(p, d, n))
                entries[place] = name(hint, name(f"n{k + 1}{LETTERS[n]}", entries[place] + pull) + pull)
            else:
                a = i if j == n else j
                first = name(f"n{k + 1}{LETTERS[a]}", entries[place] - p[n] * d[a])
                entries[place] = name(hint, first - p[a] * d[n])
        moment = tuple(name(f"d{k + 1}{LETTERS[i]}", body.moment[i] + body.mass * p[i]) for i in range(3))
        return Carried(body.mass, moment, tuple(entries))

    def _turned(self, k: int, body: Carried) -> Carried:
        """A body in the axes of the base of its cluster: turned by θ_k about the axis."""
        link = self.links[k]
        if link.kind.slides:
            return body
        n, a, b = link.axis, (link.axis + 1) % 3, (link.axis + 2) % 3
        moment = list(body.moment)
        moment[a], moment[b] = self._turned_pair(f"d{k + 1}", k, body.moment[a], body.moment[b])
        inertia = list(body.inertia)
        an, bn, ab = (PLACES[min(i, j), max(i, j)] for i, j in ((a, n), (b, n), (a, b)))
        inertia[an], inertia[bn] = self._turned_pair(f"N{k + 1}", k, body.inertia[an], body.inertia[bn])
        inertia[a], inertia[b], inertia[ab] = self._turned_tensor(k, body.inertia[a], body.inertia[b], body.inertia[ab])
        return Carried(body.mass, tuple(moment), tuple(inertia))

    def _turned_pair(self, hint: str, k: int, x: Expression, y: Expression) -> tuple[Expression, Expression]:
        """(x cos θ - y sin θ, x sin θ + y cos θ)."""
        angle, name = self.angles[k], self.sheet.name
        if self.style.phases and self._fixed(x, y) and x != 0 and y != 0:
            size, phase = se.sqrt(x * x + y * y), se.atan2(y, x)
            return name(f"{hint}a", size * se.cos(angle + phase)), name(f"{hint}b", size * se.sin(angle + phase))
        c, s = se.cos(angle), se.sin(angle)
        return name(f"{hint}a", c * x - s * y), name(f"{hint}b", s * x + c * y)

    def _turned_tensor(self, k: int, aa: Expression, bb: Expression, ab: Expression) -> tuple:
        """The block across the axis: with g = (aa - bb) sin θ + 2 ab cos θ, (aa - g sin θ, bb + g sin θ, g cos θ - ab)."""
        angle, name = self.angles[k], self.sheet.name
        if self.style.phases and self._fixed(aa, bb, ab) and ab != 0:
            half, mean = (aa - bb) / 2, (aa + bb) / 2
            size, phase = se.sqrt(half * half + ab * ab), se.atan2(ab, half)
            x, y = size * se.cos(2 * angle + phase), size * se.sin(2 * angle + phase)
            x, y = name(f"x{k + 1}", x), name(f"y{k + 1}", y)
            return name(f"A{k + 1}", mean + x), name(f"B{k + 1}", mean - x), y
        c, s = se.cos(angle), se.sin(angle)
        g = name(f"g{k + 1}", name(f"D{k + 1}", aa - bb) * s + name(f"T{k + 1}", 2 * ab) * c)
        across = name(f"sg{k + 1}", s * g)
        return name(f"A{k + 1}", aa - across), name(f"B{k + 1}", bb + across), name(f"C{k + 1}", c * g - ab)

    def _fixed(self, *values: Expression) -> bool:
        return all(self.sheet.is_constant(value) for value in values)

    # the matrix

    def _rows(self, j: int) -> None:
        """H_ji for all i down to the ground."""
        link = self.links[j]
        if link.kind.slides:
            self._prismatic_rows(j)
            return
        n = link.axis
        self._diagonal(j)
        root = j
        while self.inside[root]:
            self._inside_entry(j, root)
            root = self.links[root].base
        inertia = list(self.whole[j].inertia)
        inertia[n] = self.h[j, j]
        whole = self.whole[j] = Carried(self.whole[j].mass, self.whole[j].moment, tuple(inertia))
        x, y, z = (whole.inertia[PLACES[min(i, n), max(i, n)]] for i in range(3))
        self._lower_rows(j, j, root, cross(UNITS[n], whole.moment), (x, y, z))

    def _diagonal(self, j: int) -> None:
        link = self.links[j]
        total = [self.own[j].inertia[link.axis]]
        for m in self.children[j]:
            if self.inside[m]:
                total.append(self._pull(m, m) + self._inside_entry(m, m))
                total.append(self.whole[m].mass * across(self.links[m].pole, self.links[m].pole, link.axis))
        self.h[j, j] = self.sheet.name(f"H{j + 1}{j + 1}", add_up(total))

    def _inside_entry(self, j: int, m: int) -> Expression:
        """H of j with the base of m, in the same cluster."""
        base = self.links[m].base
        if (j, base) not in self.h:
            self.h[j, base] = self.sheet.name(f"H{j + 1}{base + 1}", self.h[j, m] + self._pull(j, m))
        return self.h[j, base]

    def _pull(self, j: int, m: int) -> Expression:
        """U_jm = p_m · D_j across the axis, with each member's first moment in its own axes."""
        axis = self.links[j].axis
        terms = [self._relative(self.links[m].pole, self.own[k].moment, k, m, axis) for k in self._members_above(j)]
        for k in self._members_above(j):
            if k != j and self.whole[k].mass != 0:
                way = self.links[k].pole
                terms.append(self.whole[k].mass * self._relative(self.links[m].pole, way, self.links[k].base, m, axis))
        return self.sheet.name(f"U{j + 1}{m + 1}", add_up(terms))

    def _members_above(self, j: int) -> list[int]:
        found, waiting = [], [j]
        while waiting:
            k = waiting.pop()
            found.append(k)
            waiting.extend(m for m in self.children[k] if self.inside[m])
        return sorted(found)

    def _relative(self, p: Vector, d: Vector, k: int, m: int, axis: int) -> Expression:
        """p · R d across the axis: p in the axes of the base of m, d in those of k, R by the angle between them."""
        a, b = (axis + 1) % 3, (axis + 2) % 3
        under = self.links[m].base
        angle = se.expand(self.angles[k] - self.angles[under])
        c, s = se.cos(angle), se.sin(angle)
        along, across = p[a] * d[a] + p[b] * d[b], p[b] * d[a] - p[a] * d[b]
        if self._fixed(d[a], d[b]):
            if self.style.phases and along != 0 and across != 0:
                return se.sqrt(along**2 + across**2) * se.cos(angle - se.atan2(across, along))
            return along * c + across * s
        w_a = self.sheet.name(f"p{m + 1}{k + 1}a", p[a] * c + p[b] * s)
        w_b = self.sheet.name(f"p{m + 1}{k + 1}b", p[b] * c - p[a] * s)
        return w_a * d[a] + w_b * d[b]

    def _way(self, m: int) -> Vector:
        """p_m of a member in the axes of the base of its cluster."""
        link = self.links[m]
        under = self.links[m].base
        a, b = (link.axis + 1) % 3, (link.axis + 2) % 3
        p = list(link.pole)
        p[a], p[b] = self._turned_pair(f"p{m + 1}", under, link.pole[a], link.pole[b])
        return p[0], p[1], p[2]

    def _prismatic_rows(self, j: int) -> None:
        link, whole = self.links[j], self.whole[j]
        unit = UNITS[link.axis]
        self.h[j, j] = self.sheet.name(f"H{j + 1}{j + 1}", whole.mass)
        force = tuple(whole.mass * e for e in unit)
        torque = cross(whole.moment, unit)
        self._lower_rows(j, j, j, force, torque)

    def _lower_rows(self, j: int, top: int, root: int, force: Vector, torque: Vector) -> None:
        """H of j with what carries the cluster (or prismatic body) ``root``, down to the ground.

        ``force`` and ``torque`` about the pole of ``top`` are in the axes of the base of the cluster of ``top``.
        """
        name = self.sheet.name
        m = top
        while m != root:
            torque = self._levered(j, m, torque, self._way(m), force)
            m = self.links[m].base
        link = self.links[root]
        if link.turn != UNITS:
            force = named(name, f"f{j + 1}", applied(link.turn, force))
            torque = named(name, f"n{j + 1}", applied(link.turn, torque))
        torque = self._levered(j, root, torque, self._offset(root), force)
        i = link.base
        if i == GROUND:
            return
        base = self.links[i]
        if base.kind.slides:
            self.h[j, i] = name(f"H{j + 1}{i + 1}", force[base.axis])
            self._lower_rows(j, i, i, force, torque)
            return
        self.h[j, i] = name(f"H{j + 1}{i + 1}", torque[base.axis])
        last = self._members_below(j, i, force)
        a, b = (base.axis + 1) % 3, (base.axis + 2) % 3
        f, t = list(force), list(torque)
        f[a], f[b] = self._turned_pair(f"f{j + 1}{i + 1}", i, force[a], force[b])
        t[a], t[b] = self._turned_pair(f"n{j + 1}{i + 1}", i, torque[a], torque[b])
        self._lower_rows(j, i, last, tuple(f), tuple(t))

    def _members_below(self, j: int, i: int, force: Vector) -> int:
        """H of j with the members of the cluster of i below i, from its force in the axes of i; returns the root."""
        axis = self.links[i].axis
        a, b = (axis + 1) % 3, (axis + 2) % 3
        # n·(p × f) = p · d with d = f turned back by a quarter about the axis
        quarter = [ZERO] * 3
        quarter[a], quarter[b] = force[b], -force[a]
        m = i
        while self.inside[m]:
            base = self.links[m].base
            pull = self._relative(self.links[m].pole, (quarter[0], quarter[1], quarter[2]), i, m, axis)
            self.h[j, base] = self.sheet.name(f"H{j + 1}{base + 1}", self.h[j, m] + pull)
            m = base
        return m

    def _levered(self, j: int, m: int, torque: Vector, p: Vector, force: Vector) -> Vector:
        """N + p × f."""
        if all(entry == 0 for entry in p):
            return torque
        name = self.sheet.name
        lever = cross(p, force)
        lever = named(name, f"u{j + 1}{m + 1}", lever)
        return named(name, f"n{j + 1}{m + 1}", plus(torque, lever))
